import Foundation
import Testing

@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "generate-model needs /usr/bin/python3"))
struct GeneratorTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func generate(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [Self.package.appending(path: "scripts/generate-model").path] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    @Test func whatIsCommittedIsWhatTheModelSays() throws {
        let result = try generate("--check")
        #expect(result.status == 0, "\(result.output)")
    }

    @Test func staleFilesAndMistakesAreFound() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "hearth-model-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Self.package.appending(path: "Model"), to: root.appending(path: "Model"))
        #expect(try generate("--check", "--root", root.path).status == 1)
        #expect(try generate("--root", root.path).status == 0)
        #expect(try generate("--check", "--root", root.path).status == 0)

        let file = root.appending(path: "Model/clusters/0006-OnOff.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacing("\"revision\": 6", with: "\"revision\": 7").write(to: file, atomically: true, encoding: .utf8)
        let stale = try generate("--check", "--root", root.path)
        #expect(stale.status == 1)
        #expect(stale.output.split(separator: "\n") == ["stale: Sources/MatterModel/Generated/OnOff.swift"])

        try text.replacing("\"quality\": \"X N\"", with: "\"quality\": \"Y\"").write(to: file, atomically: true, encoding: .utf8)
        let wrong = try generate("--root", root.path)
        #expect(wrong.status == 2)
        #expect(wrong.output.contains("OnOff.StartUpOnOff: unknown quality Y"))
    }
}
