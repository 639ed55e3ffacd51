import CommandLineKit
import MatterController
import MatterModel

/// `--timed`, of commands that change something.
private let timed = Argument.option(
    "timed", "MS",
    help: "Send a timed request with this limit in milliseconds; without it one is sent where the data model asks for it",
    kind: .unsigned(1...65535))

let writeCommand = Command(
    "write", summary: "Write an attribute of a device",
    discussion: """
        Values are written as people write them: on, 50%, 21.5C, names of enumerations and bits, 0x numbers, null; structures and \
        lists as JSON. A bare integer is the value as it is encoded.
        """,
    examples: [
        Example("hearth write lamp OnOff.OnTime=30s", "A time."),
        Example("hearth write thermostat Thermostat.OccupiedHeatingSetpoint=21.5C", "A temperature."),
        Example("hearth write lamp/0 BasicInformation.NodeLabel='hall lamp'", "Text."),
    ],
    arguments: [
        DeviceArguments.target,
        .positional(
            "assignment", "CLUSTER.ATTR=VALUE", help: "What to write", completion: DeviceArguments.element([.writable])),
        timed,
    ] + HomeOptions.all,
    run: { arguments, terminal in
        let (name, endpoint) = RequestWords.target(try arguments.required("device"))
        let word = try arguments.required("assignment")
        try await OpenHome.with(arguments, terminal) { home in
            let device = try await home.controller.device(name)
            let request = try RequestWords.write(
                word, endpoint: endpoint, of: device, timed: arguments.unsigned("timed").map { UInt16(clamping: $0) })
            let result = try await home.verbs.perform(request)
            if arguments.flag("json") { return terminal.line(result.json.text()) }
            terminal.line(TextWidth.harmless("\(device.name): \(word)"))
        }
    })

let invokeCommand = Command(
    "invoke", summary: "Invoke a command of a device",
    discussion: """
        Fields are written as FIELD=VALUE, as values are in 'hearth write'. A field that must be there and is left out is null where \
        it may be, or has no bits set, or its default.
        """,
    examples: [
        Example("hearth invoke lamp OnOff.Toggle", "A command without fields."),
        Example("hearth invoke lamp LevelControl.MoveToLevel Level=50% TransitionTime=2s", "Fields with units."),
        Example("hearth invoke front-door DoorLock.LockDoor PINCode=1234", "Timed, because the data model asks for it."),
    ],
    arguments: [
        DeviceArguments.target,
        .positional("command", "CLUSTER.COMMAND", help: "What to invoke", completion: DeviceArguments.element([.command])),
        .positional("field", "FIELD=VALUE", help: "The command's fields", arity: .any, completion: DeviceArguments.fields),
        timed,
    ] + HomeOptions.all,
    run: { arguments, terminal in
        let (name, endpoint) = RequestWords.target(try arguments.required("device"))
        let word = try arguments.required("command")
        try await OpenHome.with(arguments, terminal) { home in
            let device = try await home.controller.device(name)
            let request = try RequestWords.invoke(
                word, arguments.texts("field"), endpoint: endpoint, of: device,
                timed: arguments.unsigned("timed").map { UInt16(clamping: $0) })
            let result = try await home.verbs.perform(request)
            if arguments.flag("json") { return terminal.line(result.json.text()) }
            guard case .response(let response) = result else { return }
            terminal.line(TextWidth.harmless(response.map { ReportText.response($0) } ?? "\(device.name): \(word) done"))
        }
    })
