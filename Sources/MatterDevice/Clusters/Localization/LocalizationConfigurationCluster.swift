import MatterInteraction
import MatterModel
import MatterTLV

/// Localization Configuration (Matter Core, 11.3): the language that the device speaks.
public final class LocalizationConfigurationCluster: Cluster {
    typealias Spec = LocalizationConfiguration

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        if configuration.attributes[Spec.Attributes.supportedLocales] == nil {
            configuration.attributes[Spec.Attributes.supportedLocales] =
                ["en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "ja-JP"].tlv
        }
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
        if !supported.contains(value(Spec.Attributes.activeLocale).text ?? ""), let first = supported.first {
            set(Spec.Attributes.activeLocale, .utf8(first))
        }
    }

    private var supported: [String] { (value(Spec.Attributes.supportedLocales).array ?? []).compactMap(\.text) }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        if attribute.id == Spec.Attributes.activeLocale, !supported.contains(value.text ?? "") {
            throw Status(.constraintError, "the device does not know this locale")
        }
        return value
    }
}
