import Glibc

/// A folder that is gone with the object.
final class Scratch: Sendable {
    let folder: String

    init() {
        var template = Array("/tmp/hearth-e2e-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "no folder for the test")
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(folder) }

    /// Makes a file in it. Returns its path.
    @discardableResult
    func write(_ text: String, to name: String) -> String {
        let path = folder + "/" + name
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count, "the test's file cannot be written")
        return path
    }

    private static func remove(_ path: String) {
        guard let directory = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { remove(path + "/" + name) }
        }
        closedir(directory)
        rmdir(path)
    }
}
