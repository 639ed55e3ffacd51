// swift-tools-version: 6.2
import PackageDescription

/// The same settings everywhere. Language mode 6 comes with the tools version; the upcoming feature keeps a nonisolated
/// async function on its caller's executor, without which code would silently leave the timeline's thread.
let settings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

/// A library target and the tests that mirror it. `imports` is the target's row in docs/architecture.md; scripts/check-layers
/// compares it with the `import` lines.
func layer(_ name: String, imports: [Target.Dependency] = [], tests: [Target.Dependency] = []) -> [Target] {
    [
        .target(name: name, dependencies: imports, swiftSettings: settings),
        .testTarget(name: name + "Tests", dependencies: [.target(name: name)] + imports + tests, swiftSettings: settings),
    ]
}

let systemLibraries: [Target] = [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CAvahi"),
    .systemLibrary(name: "CYAML"),
    .systemLibrary(name: "CQREncode"),
]

let layers: [[Target]] = [
    layer("HearthTime"),
    layer("HearthIO", imports: ["HearthTime", "CLinux"]),
    layer("HearthStore", imports: ["HearthTime", "CSQLite"], tests: ["store-probe"]),
    layer("MatterTLV"),
    layer("MatterModel", imports: ["MatterTLV"]),
    layer("MachineInterface", imports: ["MatterModel", "MatterTLV"]),
    layer("MatterMessage", imports: ["MatterTLV", "HearthTime"]),
    layer("MatterInteraction", imports: ["MatterModel", "MatterMessage", "MatterTLV", "HearthTime"]),
    layer("MatterCredentials", imports: ["MatterModel", "MatterTLV", "COpenSSL"]),
    layer(
        "MatterTransport",
        imports: ["MatterMessage", "MatterCredentials", "HearthIO", "HearthTime", "MatterTLV", "MatterModel", "COpenSSL"]),
    layer("MatterDiscovery", imports: ["MatterModel", "HearthIO", "HearthTime", "CAvahi", "CLinux"]),
    layer(
        "MatterDevice",
        imports: ["MatterInteraction", "MatterCredentials", "MatterModel", "MatterMessage", "MatterTLV", "HearthTime"]),
    layer(
        "MatterNode",
        imports: [
            "MatterDevice", "MatterTransport", "MatterDiscovery", "HearthStore", "MatterInteraction", "MatterCredentials",
            "MatterModel", "MatterMessage", "MatterTLV", "HearthIO", "HearthTime",
        ], tests: ["HomeTestKit"]),
    layer(
        "MatterSimulator",
        imports: [
            "MatterNode", "MatterDevice", "MatterDiscovery", "MatterCredentials", "MatterInteraction", "MatterModel",
            "MatterMessage", "MatterTransport", "MatterTLV", "MachineInterface", "HearthStore", "HearthIO", "HearthTime", "CYAML",
            "CLinux",
        ]),
    layer(
        "MatterController",
        imports: [
            "MatterInteraction", "MatterTransport", "MatterDiscovery", "MatterCredentials", "MatterModel", "MatterMessage",
            "MatterTLV", "MachineInterface", "HearthStore", "HearthIO", "HearthTime",
        ], tests: ["HomeTestKit"]),
    layer(
        "HomeTestKit",
        imports: [
            "MatterSimulator", "MatterController", "MatterNode", "MatterDevice", "MatterInteraction", "MatterModel", "MatterTLV",
            "MatterDiscovery", "MatterMessage", "MatterTransport", "MachineInterface", "HearthIO", "HearthTime",
        ], tests: ["home-probe"]),
    layer("CommandLineKit", imports: ["HearthTime"]),
]

let tools: [Target] = [
    // What the store's tests do in another process: killed, at a full disk, beside others.
    .executableTarget(
        name: "store-probe", dependencies: ["HearthStore"], path: "Tests/StoreProbe", swiftSettings: settings),
    // A home whose journal is compared between two processes.
    .executableTarget(
        name: "home-probe",
        dependencies: [
            "HomeTestKit", "MatterSimulator", "MatterController", "MatterInteraction", "MatterModel", "MatterTLV", "HearthTime",
        ],
        path: "Tests/HomeProbe", swiftSettings: settings),
    .executableTarget(
        name: "hearth",
        dependencies: [
            "CommandLineKit", "HomeTestKit", "MatterSimulator", "MatterController", "MatterNode", "MatterDevice", "MatterDiscovery",
            "MatterCredentials", "MatterInteraction", "MatterTransport", "MatterMessage", "MatterModel", "MatterTLV",
            "MachineInterface", "HearthStore", "HearthIO", "HearthTime", "CQREncode",
        ], swiftSettings: settings),
    .testTarget(
        name: "EndToEndTests", dependencies: ["hearth", "HomeTestKit", "MatterDevice", "MatterModel", "MatterTLV", "HearthTime"],
        exclude: ["ProtocolClient"], swiftSettings: settings),
    .testTarget(
        name: "ConformanceTests", dependencies: ["HomeTestKit", "MatterController", "MatterSimulator", "MatterModel", "HearthTime"],
        exclude: ["Cases"], swiftSettings: settings),
]

/// `HEARTH_TESTS=MatterTLV,MatterDevice swift test` builds only the tests of those targets: a quick turn on a small machine.
let wantedTests = Context.environment["HEARTH_TESTS"].map { Set($0.split(separator: ",").map { "\($0)Tests" }) }
let targets = (systemLibraries + layers.flatMap { $0 } + tools).filter { target in
    target.type != .test || (wantedTests?.contains(target.name) ?? true)
}

let package = Package(
    name: "hearth",
    products: [
        .executable(name: "hearth", targets: ["hearth"]),
        // With what a test names beside the kit: profiles, commands, values, instants.
        .library(name: "HomeTestKit", targets: ["HomeTestKit", "MatterSimulator", "MatterModel", "MatterTLV", "HearthTime"]),
        // For Benchmarks/, which measures single layers.
        .library(name: "HearthLayers", targets: layers.compactMap { $0.first?.name }),
    ],
    targets: targets
)
