import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Basic Information (Matter Core, 11.1): who made the device, and how people call it.
public final class BasicInformationCluster: Cluster {
    typealias Spec = BasicInformation

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    /// What a profile gives this cluster for a device. Texts that are too long are cut, with a warning: a name is no reason for a device not
    /// to start.
    public static func configuration(of identity: DeviceIdentity) -> ClusterConfiguration {
        func text(_ text: String, _ name: String, _ limit: Int) -> TLVValue {
            let clipped = clipped(text, to: limit)
            if clipped != text { log.warning("\(name) is longer than \(limit) bytes and was cut to \(clipped)") }
            return .utf8(clipped)
        }
        var attributes: [AttributeID: TLVValue] = [
            Spec.Attributes.vendorName: text(identity.vendorName, "VendorName", 32),
            Spec.Attributes.vendorID: identity.vendorID.tlv,
            Spec.Attributes.productName: text(identity.productName, "ProductName", 32),
            Spec.Attributes.productID: identity.productID.tlv,
            Spec.Attributes.nodeLabel: text(identity.nodeLabel, "NodeLabel", 32),
            Spec.Attributes.location: .utf8(isCountry(identity.location) ? identity.location : "XX"),
            Spec.Attributes.hardwareVersion: identity.hardwareVersion.tlv,
            Spec.Attributes.hardwareVersionString: text(identity.hardwareVersionString, "HardwareVersionString", 64),
            Spec.Attributes.softwareVersion: identity.softwareVersion.tlv,
            Spec.Attributes.softwareVersionString: text(identity.softwareVersionString, "SoftwareVersionString", 64),
            Spec.Attributes.uniqueID: text(identity.uniqueID, "UniqueID", 32),
            Spec.Attributes.localConfigDisabled: .boolean(false),
        ]
        for (attribute, value, name, limit) in [
            (Spec.Attributes.manufacturingDate, identity.manufacturingDate, "ManufacturingDate", 16),
            (Spec.Attributes.partNumber, identity.partNumber, "PartNumber", 32),
            (Spec.Attributes.productURL, identity.productURL, "ProductURL", 256),
            (Spec.Attributes.productLabel, identity.productLabel, "ProductLabel", 64),
            (Spec.Attributes.serialNumber, identity.serialNumber, "SerialNumber", 32),
        ] { if let value { attributes[attribute] = text(value, name, limit) } }
        return ClusterConfiguration(attributes: attributes)
    }

    private static let log = Log("basic-information")

    /// The longest beginning of `text` that fits and does not break a character of Unicode in two.
    static func clipped(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var (clipped, count) = (String.UnicodeScalarView(), 0)
        for scalar in text.unicodeScalars {
            count += String(scalar).utf8.count
            if count > limit { break }
            clipped.append(scalar)
        }
        return String(clipped)
    }

    /// Matter 1.4: major, minor and dot version, a byte each (Matter Core, 11.1.5.22).
    static let specificationVersion: UInt32 = 0x0104_0000
    /// Revision 18 is that of Matter 1.4 and 1.4.1, 17 of 1.2 and 1.3, 19 of 1.4.2 (revision history in Matter Core, 7.1.1: so
    /// matter.js for 1.4 and connectedhomeip, pull request 72874; the constant of that SDK was still 17 in some builds of 1.4).
    static let dataModelRevision: UInt16 = 18

    public override func start() {
        emit(Spec.Events.startUp, Spec.StartUp(softwareVersion: softwareVersion).tlv)
    }

    /// The device is about to be switched off, and not by a power failure.
    func shuttingDown() { emit(Spec.Events.shutDown, .structure([])) }

    private var softwareVersion: UInt32 { UInt32(truncatingIfNeeded: value(Spec.Attributes.softwareVersion).unsigned ?? 0) }

    /// The device is about to leave a fabric.
    func leaving(_ fabric: FabricIndex) { emit(Spec.Events.leave, Spec.Leave(fabricIndex: fabric).tlv) }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.dataModelRevision: Self.dataModelRevision.tlv
        case Spec.Attributes.specificationVersion: Self.specificationVersion.tlv
        case Spec.Attributes.maxPathsPerInvoke: .unsigned(UInt64(max(1, node.maximumPathsPerInvoke)))
        case Spec.Attributes.capabilityMinima:
            Spec.CapabilityMinimaStruct(caseSessionsPerFabric: 3, subscriptionsPerFabric: 3).tlv
        default: nil
        }
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        if attribute.id == Spec.Attributes.location, !Self.isCountry(value.text ?? "") {
            throw Status(.constraintError, "a location is a country code of two letters")
        }
        return value
    }

    /// Reachable tells of other nodes' doings only; here somebody at the device may still pretend.
    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let old = self.value(attribute.id)
        set(attribute.id, value)
        guard attribute.id == Spec.Attributes.reachable, let isReachable = value.boolean, old != value else { return }
        emit(Spec.Events.reachableChanged, Spec.ReachableChanged(reachableNewValue: isReachable).tlv)
    }

    /// Two letters, capital ones as a rule; `XX` stands for unknown (Matter Core, 11.1.5.7).
    static func isCountry(_ code: String) -> Bool {
        code.utf8.count == 2 && code.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
    }
}
