import Glibc
import MatterModel
import Testing

/// A program's connection to a control socket: lines of JSON there and back.
final class ControlSocket {
    private let descriptor: Int32
    private var input: [UInt8] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0, "nobody listens on \(path): error \(errno)")
        #expect(try line()["hello"] == "hearth")
    }

    deinit { close(descriptor) }

    func send(_ request: JSONValue) {
        let line = Array((request.text() + "\n").utf8)
        #expect(write(descriptor, line, line.count) == line.count)
    }

    /// The answer to a request; an issue when it has not come within 30 s.
    func ask(_ request: JSONValue) throws -> JSONValue {
        send(request)
        return try line()
    }

    private func line() throws -> JSONValue {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = input.firstIndex(of: 0x0A) {
                defer { input.removeFirst(end + 1) }
                return try JSONValue(parsing: Array(input[..<end]))
            }
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            try #require(poll(&wanted, 1, 30_000) == 1, "no answer over the control socket")
            let count = read(descriptor, &chunk, chunk.count)
            try #require(count > 0, "the control socket is closed")
            input += chunk[..<count]
        }
    }
}
