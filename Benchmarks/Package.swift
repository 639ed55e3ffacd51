// swift-tools-version: 6.2
import PackageDescription

/// What Hearth costs, measured. A package of its own, so that nobody who uses Hearth builds it: scripts/benchmark does.
let package = Package(
    name: "hearth-benchmarks",
    dependencies: [.package(name: "hearth", path: "..")],
    targets: [
        .executableTarget(
            name: "hearth-bench",
            // The command line, because its start-up is measured.
            dependencies: [
                .product(name: "HearthLayers", package: "hearth"), .product(name: "HomeTestKit", package: "hearth"),
                .product(name: "hearth", package: "hearth"),
            ],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")])
    ]
)
