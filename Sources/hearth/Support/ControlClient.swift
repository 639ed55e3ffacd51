import CommandLineKit
import Glibc
import HearthIO
import MachineInterface
import MatterModel

/// One request to a running simulator over its control socket.
enum ControlClient {
    /// Where the simulator listens: `--control`, else `$HEARTH_CONTROL`.
    static let option = Argument.option(
        "control", "PATH", help: "The simulator's control socket; without it $HEARTH_CONTROL", kind: .file)
    static let arguments = [option, HomeOptions.json]

    /// Sends a request and returns the answer's members. - Throws: what the simulator says is wrong.
    static func ask(_ request: [String: JSONValue], _ arguments: ParsedArguments) throws -> JSONValue {
        guard let path = arguments.text("control") ?? HomeOptions.variable("HEARTH_CONTROL") else {
            throw UsageError(
                "say which simulator: --control PATH, as it was given to 'hearth simulate', or HEARTH_CONTROL in the environment")
        }
        let descriptor: Int32
        do {
            descriptor = try UnixSocket.connect(path: path)
        } catch let error as IOError where error.code == EAGAIN {
            throw MachineError(
                MachineError.unreachableStatus, "the simulator on '\(path)' is busy: more clients wait for it than it can take")
        } catch {
            throw MachineError(MachineError.unreachableStatus, "no simulator listens on '\(path)': \(error)")
        }
        defer { close(descriptor) }
        guard try UnixSocket.peerUser(descriptor) == geteuid() else {
            throw MachineError(MachineError.unreachableStatus, "'\(path)' is another user's socket: what is sent to it would be theirs")
        }
        var request = request
        request["id"] = 1
        var sendFailure: (any Error)?
        // Who is sent away may have been told why.
        do { try send(JSONValue(request).text() + "\n", descriptor) } catch { sendFailure = error }
        var reader = LineReader(descriptor, stop: -1)
        while let line = reader.next() {
            guard case .text(let bytes) = line else { break }
            let answer = try JSONValue(parsing: bytes)
            // Sent away before it was asked anything.
            if answer["id"] == .null, answer["ok"] == false { throw failure(answer["error"]) }
            guard answer["id"] == 1 else { continue }
            if answer["ok"] == true {
                var members = answer.object ?? [:]
                members["id"] = nil
                return JSONValue(members)
            }
            throw failure(answer["error"])
        }
        if let sendFailure { throw sendFailure }
        throw MachineError(MachineError.noResponseStatus, "the simulator on '\(path)' ended before it answered")
    }

    private static func failure(_ error: JSONValue?) -> MachineError {
        func byte(_ name: String) -> UInt8? { error?[name]?.unsigned.flatMap { UInt8(exactly: $0) } }
        return MachineError(
            error?["status"]?.string ?? MachineError.internalStatus, error?["message"]?.string ?? "the simulator gave no reason",
            code: byte("code"), clusterStatus: byte("clusterStatus"))
    }

    private static func send(_ text: String, _ descriptor: Int32) throws {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wanted, 1, -1)
            } else if errno != EINTR {
                throw MachineError(MachineError.noResponseStatus, "the simulator went away: \(String(cString: strerror(errno)))")
            }
        }
    }
}
