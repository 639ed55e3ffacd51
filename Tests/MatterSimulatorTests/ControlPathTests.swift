import Glibc
import HearthIO
import Testing

@testable import MatterSimulator

/// Where a control socket may lie.
@Suite struct ControlPathTests {
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
            let place = try ControlPath(path)
            close(place.descriptor)
            place.remove()
            return nil
        } catch {
            #expect(error.code == .network)
            return error.message
        }
    }

    @Test func aFolderThatIsNotThereIsMadeForItsOwnerAlone() throws {
        try withFolder("run/control", "run") { folder in
            let place = try ControlPath(folder + "/run/control")
            #expect(mode(folder + "/run") == 0o700)
            #expect(mode(folder + "/run/control") == 0o600)
            close(place.descriptor)
        }
    }

    /// As in `/tmp`, and as most folders are made.
    @Test(arguments: [0o701, 0o710, 0o755, 0o1777] as [mode_t])
    func inAFolderThatOthersMayEnterThePathLeadsToOneThatTheyMayNot(_ open: mode_t) throws {
        try withFolder("control") { folder in
            chmod(folder, open)
            let path = folder + "/control"
            let place = try ControlPath(path)
            let socket = try #require(
                realpath(path, nil).map { name in
                    defer { free(name) }
                    return String(cString: name)
                })
            let own = String(socket.dropLast("/control".count))
            #expect(own != folder)
            #expect(mode(own) == 0o700)
            #expect(mode(socket) == 0o600)
            #expect(mode(folder) == open)
            close(try UnixSocket.connect(path: path))
            // Another one does not take its place.
            #expect(refusal(path)?.contains("another simulator listens there") == true)
            // Nor does the death of the first keep it from being used, nor leave a folder behind.
            close(place.descriptor)
            let second = try ControlPath(path)
            #expect(access(own, F_OK) != 0)
            close(second.descriptor)
            second.remove()
            #expect(access(path, F_OK) != 0)
        }
    }

    @Test(arguments: [0o777, 0o722, 0o770] as [mode_t])
    func aFolderThatOthersMayChangeIsRefusedAndStaysAsItIs(_ open: mode_t) throws {
        try withFolder("control") { folder in
            chmod(folder, open)
            let message = try #require(refusal(folder + "/control"))
            #expect(message.contains("others may change its folder '\(folder)' (mode \(String(open, radix: 8)))"), "\(message)")
            #expect(mode(folder) == open)
            #expect(access(folder + "/control", F_OK) != 0)
        }
    }

    @Test func aLinkThatIsNotOursIsLeftAlone() throws {
        try withFolder("control", "target") { folder in
            chmod(folder, 0o755)
            close(open(folder + "/target", O_WRONLY | O_CREAT, 0o600))
            #expect(symlink(folder + "/target", folder + "/control") == 0)
            #expect(refusal(folder + "/control")?.contains("something else has that name") == true)
            #expect(access(folder + "/target", F_OK) == 0)
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
            let place = try ControlPath(folder + "/control")
            defer { close(place.descriptor) }
            close(open(folder + "/file", O_WRONLY | O_CREAT, 0o600))
            for name in ["control", "file"] {
                #expect(refusal("\(folder)/\(name)")?.contains("another simulator listens there, or something else") == true)
            }
        }
    }
}
