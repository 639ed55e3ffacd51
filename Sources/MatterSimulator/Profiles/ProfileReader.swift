import MatterCredentials
import MatterDevice
import MatterModel
import MatterTLV

/// Reads device profiles. `docs/profiles.md` describes the format, `device-profiles/schema.json` serves editors.
public enum ProfileReader {
    /// Reads a profile from the bytes of `file`. - Throws: every mistake with file, line and path.
    public static func read(_ text: [UInt8], file: String) throws(ProfileErrors) -> DeviceProfile {
        let node: YAMLNode
        do throws(ProfileError) { node = try YAMLParser.parse(text, file: file) } catch { throw ProfileErrors(errors: [error]) }
        let context = ProfileContext(file: file)
        let profile = profile(node, context)
        guard let profile, context.mistakes == 0 else { throw ProfileErrors(errors: context.sortedErrors) }
        return profile
    }

    private static func profile(_ node: YAMLNode, _ context: ProfileContext) -> DeviceProfile? {
        guard let top = context.mapping(node, "") else { return nil }
        let name = context.name(top.take("name"), maximumBytes: 64) ?? Self.name(of: context.file).clipped(toBytes: 64)
        var profile = DeviceProfile(name: name, endpoints: [], source: context.file)
        if let found = top.take("product") { product(found.node, found.path, &profile, context) }
        if let found = top.take("setup") { setup(found.node, found.path, &profile, context) }
        if let count: UInt16 = context.number(top.take("maximumPathsPerInvoke"), in: 1...100, "a number of commands") {
            profile.maximumPathsPerInvoke = count
        }
        let trial = ProfileTrial(context)
        if let found = top.take("root"), let root = context.mapping(found.node, found.path) {
            if let clusters = root.take("clusters") {
                let read = Self.clusters(clusters.node, clusters.path, context)
                profile.root = read.mapValues(\.configuration)
                trial.examine(root: read)
            }
            root.finish()
        }
        if let found = top.take("endpoints") {
            profile.endpoints = endpoints(found, trial, context)
        } else if top.take("devices") != nil {
            context.report(node, "", "this is a fleet and no profile: hearth simulate --fleet \(context.file)")
        } else {
            // Whoever wrote `device:` meant a fleet.
            top.missing("endpoints", "devices", message: "'endpoints' is missing: a list with at least one endpoint is expected")
        }
        top.finish()
        return profile
    }

    /// `dimmable-light` of `device-profiles/dimmable-light.yaml`.
    static func name(of file: String) -> String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        return last.split(separator: ".").first.map(String.init) ?? last
    }

    private static func product(_ node: YAMLNode, _ path: String, _ profile: inout DeviceProfile, _ context: ProfileContext) {
        guard let product = context.mapping(node, path) else { return }
        // Credentials exist for the vendors that Matter sets aside for tests.
        if let vendor: UInt16 = context.number(product.take("vendorId"), in: 0xFFF1...0xFFF4, "a test vendor id") {
            profile.vendorID = VendorID(vendor)
        }
        if let id: UInt16 = context.number(product.take("productId"), in: 1...0xFFFF, "a product id") { profile.productID = id }
        profile.vendorName = context.text(product.take("vendorName"), maximumBytes: 32) ?? profile.vendorName
        profile.productName = context.text(product.take("productName"), maximumBytes: 32) ?? profile.productName
        profile.serialNumber = context.text(product.take("serialNumber"), maximumBytes: 32)
        product.finish()
    }

    private static func setup(_ node: YAMLNode, _ path: String, _ profile: inout DeviceProfile, _ context: ProfileContext) {
        guard let setup = context.mapping(node, path) else { return }
        if let found = setup.take("passcode"), let number: UInt32 = context.number(found, in: 0...99_999_999, "a passcode") {
            do throws(CredentialsError) { profile.passcode = try Passcode(number) } catch {
                context.report(found.node, found.path, error.message)
            }
        }
        profile.discriminator = context.number(setup.take("discriminator"), in: 0...4095, "a discriminator")
        setup.finish()
    }
}
