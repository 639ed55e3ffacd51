// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "lamp-xctests",
    // Elsewhere: .package(url: …, from: …).
    dependencies: [.package(name: "hearth", path: "../..")],
    targets: [
        .testTarget(name: "LampXCTests", dependencies: [.product(name: "HomeTestKit", package: "hearth")])
    ])
