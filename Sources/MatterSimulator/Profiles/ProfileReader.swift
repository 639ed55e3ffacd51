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
        guard let profile, context.errors.isEmpty else { throw ProfileErrors(errors: context.sortedErrors) }
        return profile
    }

    private static func profile(_ node: YAMLNode, _ context: ProfileContext) -> DeviceProfile? {
        guard let top = context.mapping(node, "") else { return nil }
        let name = context.name(top.take("name")) ?? Self.name(of: context.file)
        var profile = DeviceProfile(name: name.clipped(toBytes: 64), endpoints: [], source: context.file)
        if profile.name != name { context.report(node, "name", "'\(name)' has more than 64 bytes") }
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
            for item in context.sequence(found.node, found.path) ?? [] {
                for endpoint in endpoints(item.node, item.path, trial, context) {
                    if profile.endpoints.contains(where: { $0.id == endpoint.id }) {
                        context.report(item.node, item.path, "endpoint \(endpoint.id) stands twice")
                    }
                    profile.endpoints.append(endpoint)
                }
            }
            for endpoint in profile.endpoints {
                guard let parent = endpoint.parent, !profile.endpoints.contains(where: { $0.id == parent }) else { continue }
                context.report(found.node, found.path, "endpoint \(endpoint.id) belongs to endpoint \(parent), which is not there")
            }
            if profile.endpoints.isEmpty { context.report(found.node, found.path, "a device needs at least one endpoint") }
        } else if top.take("devices") != nil {
            context.report(node, "", "this is a fleet and no profile: hearth simulate --fleet \(Self.name(of: context.file))")
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

    /// An endpoint, or with `repeat` several that are alike, numbered from its id on.
    private static func endpoints(
        _ node: YAMLNode, _ path: String, _ trial: ProfileTrial, _ context: ProfileContext
    ) -> [DeviceProfile.Endpoint] {
        guard let mapping = context.mapping(node, path) else { return [] }
        let id: UInt16 = context.number(mapping.take("id"), in: 1...0xFFFE, "an endpoint") ?? 1
        var endpoint = DeviceProfile.Endpoint(EndpointID(id), deviceTypes: [])
        endpoint.parent = context.number(mapping.take("parent"), in: UInt16(1)...0xFFFE, "an endpoint").map { EndpointID($0) }
        let before = context.errors.count
        if let found = mapping.take("deviceTypes") {
            let items = context.sequence(found.node, found.path)
            for item in items ?? [] {
                if let type = deviceType(item.node, item.path, context) { endpoint.deviceTypes.append(type) }
            }
            if items?.isEmpty == true {
                context.report(found.node, found.path, "an endpoint needs at least one device type: [OnOffLight] is such a list")
            }
        } else {
            mapping.missing("deviceTypes", message: "'deviceTypes' is missing: a list such as [OnOffLight] is expected")
        }
        let knowsTypes = context.errors.count == before && !endpoint.deviceTypes.isEmpty
        if let found = mapping.take("clusters") {
            let read = clusters(found.node, found.path, context)
            endpoint.clusters = read.mapValues(\.configuration)
            trial.examine(endpoint, read, knowsTypes: knowsTypes)
        }
        if let found = mapping.take("labels") { labels(found, &endpoint, context) }
        let count: UInt16 = context.number(mapping.take("repeat"), in: 1...1000, "a number of endpoints") ?? 1
        mapping.finish()
        return (0..<count).compactMap { offset in
            let (number, overflow) = id.addingReportingOverflow(offset)
            guard !overflow, number <= 0xFFFE else { return nil }
            return DeviceProfile.Endpoint(
                EndpointID(number), deviceTypes: endpoint.deviceTypes, clusters: endpoint.clusters, parent: endpoint.parent)
        }
    }

    /// Labels that the maker has put on: the list of Fixed Label (Matter Core, 9.8).
    private static func labels(
        _ found: (node: YAMLNode, path: String), _ endpoint: inout DeviceProfile.Endpoint, _ context: ProfileContext
    ) {
        guard let mapping = context.mapping(found.node, found.path) else { return }
        var list: [TLVValue] = []
        for member in mapping.takeAll() {
            guard let value = context.text((member.node, member.path), maximumBytes: 16) else { continue }
            if member.key.utf8.count > 16 { context.report(member.keyNode, found.path, "'\(member.key)' has more than 16 bytes") }
            list.append(.structure([TLVElement(0, .utf8(member.key)), TLVElement(1, .utf8(value))]))
        }
        endpoint.clusters[FixedLabel.id, default: ClusterConfiguration()].attributes[FixedLabel.Attributes.labelList] = .array(list)
    }

    private static func deviceType(_ node: YAMLNode, _ path: String, _ context: ProfileContext) -> DeviceTypeID? {
        guard let text = context.text((node, path)) else { return nil }
        if let type = DataModel.deviceType(named: text) { return type.id }
        let number = text.hasPrefix("0x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
        if let number, let type = DataModel.deviceType(id: DeviceTypeID(number)) { return type.id }
        let names = DataModel.deviceTypes.map(\.name)
        context.report(node, path, "there is no device type '\(text)'\(DataModel.didYouMean(text, among: names))")
        return nil
    }
}
