import CommandLineKit
import Glibc
import MatterController
import MatterModel

let credentialsCommand = Command(
    "credentials", summary: "The controller's own certificates and key",
    subcommands: [
        Command(
            "export", summary: "Hand them to another program, which can then act as this controller",
            discussion: """
                Whoever has the key controls every device of the home. Files are readable for you alone, and take the place of older \
                ones.
                """,
            examples: [
                Example(
                    "hearth credentials export --out credentials", "Files: controller.pem, key.pem, root.pem, identity.json."),
                Example("hearth credentials export --json", "Everything in one document."),
            ],
            arguments: [
                .option("out", short: "o", "DIR", help: "Where to put the files; it is made when it is not there", kind: .folder)
            ] + HomeOptions.all,
            run: { arguments, terminal in
                try await OpenHome.with(arguments, terminal) { home in
                    let credentials = try await home.controller.exportCredentials()
                    guard let folder = arguments.text("out") else {
                        if arguments.flag("json") { return terminal.line(json(credentials, withKeys: true).text()) }
                        let parts = [credentials.certificate, credentials.intermediate, credentials.root, credentials.privateKey]
                        terminal.note("the last part is the private key: whoever has it controls every device of the home")
                        return terminal.write(parts.compactMap { $0 }.map { $0.hasSuffix("\n") ? $0 : $0 + "\n" }.joined())
                    }
                    try write(credentials, folder)
                    terminal.line(
                        arguments.flag("json")
                            ? json(credentials, withKeys: false).text()
                            : "the credentials are in \(folder): keep key.pem to yourself")
                }
            })
    ])

private func json(_ credentials: Controller.ExportedCredentials, withKeys: Bool) -> JSONValue {
    var members = ControllerResult.identity(credentials.identity).json.object ?? [:]
    if withKeys {
        members["certificate"] = .string(credentials.certificate)
        members["privateKey"] = .string(credentials.privateKey)
        members["intermediate"] = JSONValue(credentials.intermediate)
        members["root"] = .string(credentials.root)
    }
    return .object(members)
}

private func write(_ credentials: Controller.ExportedCredentials, _ folder: String) throws {
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
        throw Failure(.failure, "'\(folder)' cannot be made: \(String(cString: strerror(errno)))")
    }
    let files = [
        ("controller.pem", credentials.certificate + (credentials.intermediate ?? "")), ("key.pem", credentials.privateKey),
        ("root.pem", credentials.root), ("identity.json", json(credentials, withKeys: false).text(indented: true) + "\n"),
    ].map { (path: "\(folder)/\($0.0)", text: $0.1) }
    // What was exported before stays whole until all of this is on the disk.
    do {
        for file in files { try write(file.text, file.path + ".new") }
        for file in files where rename(file.path + ".new", file.path) != 0 { throw unwritable(file.path) }
    } catch {
        for file in files { unlink(file.path + ".new") }
        throw error
    }
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    // Best effort: some file systems cannot.
    fsync(descriptor)
    close(descriptor)
}

private func unwritable(_ path: String) -> Failure { Failure(.failure, "'\(path)' cannot be written: \(String(cString: strerror(errno)))") }

/// Writes a file that is to be renamed; one that an interrupted export has left, with whatever mode, goes.
private func write(_ text: String, _ path: String) throws {
    unlink(path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw unwritable(path) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            throw unwritable(path)
        }
        sent += count
    }
    guard fsync(descriptor) == 0 else { throw unwritable(path) }
}
