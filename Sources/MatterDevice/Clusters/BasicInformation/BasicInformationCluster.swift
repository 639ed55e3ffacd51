import MatterInteraction
import MatterModel
import MatterTLV

/// Basic Information (Matter Core, 11.1): who made the device, and how people call it.
public final class BasicInformationCluster: Cluster {
    typealias Spec = BasicInformation

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    /// What a profile gives this cluster for a device.
    public static func configuration(of identity: DeviceIdentity) -> ClusterConfiguration {
        var attributes: [AttributeID: TLVValue] = [
            Spec.Attributes.vendorName: .utf8(identity.vendorName), Spec.Attributes.vendorID: identity.vendorID.tlv,
            Spec.Attributes.productName: .utf8(identity.productName), Spec.Attributes.productID: identity.productID.tlv,
            Spec.Attributes.nodeLabel: .utf8(identity.nodeLabel), Spec.Attributes.location: .utf8(identity.location),
            Spec.Attributes.hardwareVersion: identity.hardwareVersion.tlv,
            Spec.Attributes.hardwareVersionString: .utf8(identity.hardwareVersionString),
            Spec.Attributes.softwareVersion: identity.softwareVersion.tlv,
            Spec.Attributes.softwareVersionString: .utf8(identity.softwareVersionString),
            Spec.Attributes.uniqueID: .utf8(identity.uniqueID), Spec.Attributes.localConfigDisabled: .boolean(false),
        ]
        for (attribute, text) in [
            (Spec.Attributes.manufacturingDate, identity.manufacturingDate), (Spec.Attributes.partNumber, identity.partNumber),
            (Spec.Attributes.productURL, identity.productURL), (Spec.Attributes.productLabel, identity.productLabel),
            (Spec.Attributes.serialNumber, identity.serialNumber),
        ] { if let text { attributes[attribute] = .utf8(text) } }
        return ClusterConfiguration(attributes: attributes)
    }

    /// Matter 1.4.
    static let specificationVersion: UInt32 = 0x0104_0000
    static let dataModelRevision: UInt16 = 17

    public override func start() {
        emit(Spec.Events.startUp, Spec.StartUp(softwareVersion: softwareVersion).tlv)
    }

    public override func stop() { emit(Spec.Events.shutDown, .structure([])) }

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
            throw Status(.constraintError, "a location is a country code of two capital letters")
        }
        return value
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {}

    /// Reachable tells of other nodes' doings only; here somebody at the device may still pretend.
    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let old = self.value(attribute.id)
        set(attribute.id, value)
        guard attribute.id == Spec.Attributes.reachable, let isReachable = value.boolean, old != value else { return }
        emit(Spec.Events.reachableChanged, Spec.ReachableChanged(reachableNewValue: isReachable).tlv)
    }

    /// Two capital letters; `XX` stands for unknown (Matter Core, 11.1.5.7).
    static func isCountry(_ code: String) -> Bool {
        code.utf8.count == 2 && code.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
}
