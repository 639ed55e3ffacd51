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
    try write(credentials.certificate + (credentials.intermediate ?? ""), folder + "/controller.pem")
    try write(credentials.privateKey, folder + "/key.pem")
    try write(credentials.root, folder + "/root.pem")
    try write(json(credentials, withKeys: false).text(indented: true) + "\n", folder + "/identity.json")
}

private func write(_ text: String, _ path: String) throws {
    func failure() -> Failure { Failure(.failure, "'\(path)' cannot be written: \(String(cString: strerror(errno)))") }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    // An older file may have been open to others.
    guard fchmod(descriptor, 0o600) == 0 else { throw failure() }
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            throw failure()
        }
        sent += count
    }
}
