import CommandLineKit
import MatterController
import MatterModel
import MatterSimulator

let profilesCommand = Command(
    "profiles", summary: "List the ready profiles and fleets, or check files",
    examples: [
        Example("hearth profiles", "What 'hearth simulate' finds by name."),
        Example("hearth profiles my-lamp.yaml", "Every mistake, with file and line."),
    ],
    arguments: [
        .positional(
            "file", help: "A profile or fleet to check; without it those that are found", arity: .any, completion: .files),
        .flag("schema", help: "Print the JSON schema of profiles and fleets, for editors"),
        HomeOptions.json,
    ],
    run: { arguments, terminal in
        if arguments.flag("schema") { return terminal.line(ProfileSchema.json.text(indented: true)) }
        let library = ProfileLibrary.standard()
        let given = arguments.texts("file")
        let checked = (given.isEmpty ? library.files() : given).map { ProfileCheck($0, library) }
        if arguments.flag("json") {
            terminal.line(
                JSONValue(["ok": .boolean(checked.allSatisfy(\.faults.isEmpty)), "profiles": .array(checked.map(\.json))]).text())
        } else {
            if checked.isEmpty { terminal.note("no profiles were found: set HEARTH_PROFILES to their folder") }
            var table = Table([
                Table.Column("NAME"), Table.Column("WHAT IT IS", minimumWidth: 12), Table.Column("FILE", minimumWidth: 8),
            ])
            for check in checked where check.faults.isEmpty {
                table.add([.init(check.name), .init(check.what), .init(check.file)])
            }
            if checked.contains(where: \.faults.isEmpty) { table.write(to: terminal) }
            terminal.tell(checked.flatMap(\.faults))
        }
        let faulty = checked.count { !$0.faults.isEmpty }
        if faulty > 0 {
            throw Quiet(
                exitCode: .badArguments,
                message: "\(faulty) of \(checked.count) \(checked.count == 1 ? "file" : "files") cannot be used")
        }
    })

/// What a file is, or what is wrong with it.
private struct ProfileCheck {
    var file: String
    var name: String
    var what = ""
    var faults: [ProfileError] = []

    init(_ reference: String, _ library: ProfileLibrary) {
        let last = reference.split(separator: "/").last.map(String.init) ?? reference
        (file, name) = (reference, last.hasSuffix(".yaml") ? String(last.dropLast(5)) : last)
        do throws(ProfileErrors) {
            let profile = try library.profile(reference)
            what = DeviceTypeID.summary(profile.endpoints.flatMap(\.deviceTypes))
            file = profile.source ?? file
        } catch {
            // A fleet is no profile. What is wrong with the document as a whole says that it is no fleet either.
            do throws(ProfileErrors) {
                let fleet = try library.fleet(reference)
                what = "fleet of \(fleet.members.count) devices"
                faults = fleet.errors
            } catch let asFleet {
                faults = asFleet.errors.contains { $0.path.isEmpty } ? error.errors : asFleet.errors
            }
        }
    }

    var json: JSONValue {
        [
            "name": .string(name), "file": .string(file), "what": .string(what),
            "errors": .array(
                faults.map {
                    [
                        "file": .string($0.file), "line": .integer(Int64($0.line)), "column": .integer(Int64($0.column)),
                        "path": .string($0.path), "message": .string($0.message),
                    ]
                }),
        ]
    }
}
