import Glibc
import HearthIO
import Testing

@testable import MatterSimulator

/// Where a control socket may lie.
@Suite struct ControlFolderTests {
    /// A folder of mode 0700 that is gone afterwards, with what `names` name in it.
    private func withFolder(_ names: String..., body: (String) throws -> Void) throws {
        var template = Array("/tmp/hearth-folder-XXXXXX".utf8CString)
        let folder = try #require(
            template.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
            })
        defer {
            for name in names { remove(folder + "/" + name) }
            rmdir(folder)
        }
        try body(folder)
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    /// What is said when the path is refused; nil when it is served.
    private func refusal(_ path: String) -> String? {
        do throws(SimulatorError) {
            close(try ControlFolder.listen(path))
            return nil
        } catch {
            #expect(error.code == .network)
            return error.message
        }
    }

    @Test func aFolderThatIsNotThereIsMadeForItsOwnerAlone() throws {
        try withFolder("run/control", "run") { folder in
            #expect(refusal(folder + "/run/control") == nil)
            #expect(mode(folder + "/run") == 0o700)
            #expect(mode(folder + "/run/control") == 0o600)
        }
    }

    @Test(arguments: [0o701, 0o710, 0o755, 0o777, 0o1777] as [mode_t])
    func aFolderThatOthersMayEnterIsRefusedAndStaysAsItIs(_ open: mode_t) throws {
        try withFolder("control") { folder in
            chmod(folder, open)
            let message = try #require(refusal(folder + "/control"))
            #expect(message.contains("'\(folder)' is open to other users (mode \(String(open, radix: 8)))"), "\(message)")
            #expect(message.contains("'\(folder)/private/control'"), "\(message)")
            // Nobody is told to close what is shared, as /tmp is.
            #expect(message.contains("chmod 700") == (open & 0o022 == 0), "\(message)")
            #expect(mode(folder) == open)
            #expect(access(folder + "/control", F_OK) != 0)
            // What is advised helps.
            chmod(folder, 0o700)
            #expect(refusal(folder + "/control") == nil)
        }
    }

    @Test func aFolderOfAnotherUserIsRefused() throws {
        // One of root's; who is root gives one away.
        try withFolder { folder in
            let foreign: String
            if geteuid() == 0 {
                foreign = folder
                #expect(chown(folder, 65534, 65534) == 0)
            } else {
                foreign = "/proc"
            }
            #expect(refusal(foreign + "/control")?.contains("another user's") == true)
        }
    }

    @Test func whatCannotBeAFolderIsRefused() throws {
        try withFolder("file") { folder in
            close(open(folder + "/file", O_WRONLY | O_CREAT, 0o600))
            #expect(refusal(folder + "/file/control")?.contains("is no folder") == true)
            #expect(refusal(folder + "/none/none/control")?.contains("cannot be made: No such file") == true)
            #expect(refusal("")?.contains("Invalid argument") == true)
        }
    }

    @Test func nothingIsMadeForAPathThatIsTooLong() throws {
        try withFolder("run") { folder in
            #expect(refusal(folder + "/run/" + String(repeating: "x", count: 120))?.contains("107") == true)
            #expect(access(folder + "/run", F_OK) != 0)
        }
    }

    @Test func aNameThatIsTakenIsRefusedInWords() throws {
        try withFolder("control", "file") { folder in
            let listener = try ControlFolder.listen(folder + "/control")
            defer { close(listener) }
            close(open(folder + "/file", O_WRONLY | O_CREAT, 0o600))
            for name in ["control", "file"] {
                #expect(refusal("\(folder)/\(name)")?.contains("another simulator listens there, or something else") == true)
            }
        }
    }
}
