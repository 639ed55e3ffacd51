import MatterInteraction
import MatterModel
import MatterTLV

/// Mode Select (Matter Application Clusters, 1.9): one of the modes that the profile lists.
public final class ModeSelectCluster: Cluster {
    typealias Spec = ModeSelect
    private typealias Attributes = ModeSelect.Attributes

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        let modes = [Spec.ModeOptionStruct(label: "Normal", mode: 0, semanticTags: []), .init(label: "Quiet", mode: 1, semanticTags: [])]
        configuration.attributes.merge([Attributes.description: .utf8("Mode"), Attributes.supportedModes: modes.tlv]) { said, _ in said }
        if configuration.attributes[Attributes.currentMode] == nil,
            let first = configuration.attributes[Attributes.supportedModes]?.array?.first?[1]
        {
            configuration.attributes[Attributes.currentMode] = first
        }
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    private func isSupported(_ mode: UInt64) -> Bool {
        (value(Attributes.supportedModes).array ?? []).contains { $0[1]?.unsigned == mode }
    }

    public override func ownConfigurationProblems(_ given: Set<AttributeID>) -> [ConfigurationProblem] {
        let modes = (value(Attributes.supportedModes).array ?? []).compactMap { $0[1]?.unsigned }
        let wanted = "one of SupportedModes (\(modes.map(String.init).joined(separator: ", "))) is expected"
        var problems: [ConfigurationProblem] = []
        if Set(modes).count < modes.count, given.contains(Attributes.supportedModes) {
            problems.append(
                ConfigurationProblem(.attribute(Attributes.supportedModes), "a mode stands twice: each has a number of its own"))
        }
        for attribute in [Attributes.currentMode, Attributes.startUpMode, Attributes.onMode] where given.contains(attribute) {
            guard let mode = value(attribute).unsigned, !isSupported(mode) else { continue }
            problems.append(ConfigurationProblem(.attribute(attribute), "\(text(of: attribute)) is not allowed: \(wanted)"))
        }
        return problems
    }

    public override func start() {
        if node.appliesStartUpValues, let startUp = value(Attributes.startUpMode).unsigned, has(Attributes.startUpMode), !startsOn,
            isSupported(startUp)
        {
            set(Attributes.currentMode, .unsigned(startUp))
        }
        guard has(Attributes.onMode) else { return }
        node.observe(endpoint, OnOff.id, OnOff.Attributes.onOff) { [weak self] in
            guard let self, node.cluster(OnOffCluster.self, at: endpoint)?.isOn == true else { return }
            if let mode = value(Attributes.onMode).unsigned { set(Attributes.currentMode, .unsigned(mode)) }
        }
    }

    /// Where the device turns on at its start, OnMode counts and not StartUpMode (1.9.6.6).
    private var startsOn: Bool {
        guard has(Attributes.onMode), let mode = value(Attributes.onMode).unsigned,
            let onOff = node.cluster(OnOffCluster.self, at: endpoint), onOff.has(OnOff.Attributes.startUpOnOff),
            onOff.value(OnOff.Attributes.startUpOnOff).unsigned == 1
        else { return false }
        set(Attributes.currentMode, .unsigned(mode))
        return true
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        if let mode = value.unsigned, !isSupported(mode) { throw Status(.constraintError, "there is no such mode") }
        return value
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let choices: Set<AttributeID> = [Attributes.currentMode, Attributes.startUpMode, Attributes.onMode]
        set(attribute.id, choices.contains(attribute.id) ? try willWrite(attribute, value, .local()) : value)
    }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        guard command.id == Spec.Commands.changeToMode else { throw Status(.unsupportedCommand) }
        let mode = UInt64(try Spec.ChangeToMode(tlv: fields).newMode)
        guard isSupported(mode) else { throw Status(.invalidCommand, "there is no such mode") }
        set(Attributes.currentMode, .unsigned(mode))
        return .success
    }
}
