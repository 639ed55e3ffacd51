// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "lamp-tests",
    // Elsewhere: .package(url: …, from: …).
    dependencies: [.package(name: "hearth", path: "../..")],
    targets: [
        .testTarget(name: "LampTests", dependencies: [.product(name: "HomeTestKit", package: "hearth")])
    ])
