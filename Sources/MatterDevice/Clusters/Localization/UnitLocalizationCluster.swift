import MatterInteraction
import MatterModel
import MatterTLV

/// Unit Localization (Matter Core, 11.5): the unit in which the device shows temperatures. What it reports stays in hundredths of a degree
/// Celsius.
public final class UnitLocalizationCluster: Cluster {
    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        configuration.features |= UnitLocalization.Feature.temperatureUnit.rawValue
        if configuration.attributes[UnitLocalization.Attributes.temperatureUnit] == nil {
            configuration.attributes[UnitLocalization.Attributes.temperatureUnit] = UnitLocalization.TempUnitEnum.celsius.tlv
        }
        super.init(UnitLocalization.definition, endpoint: endpoint, node: node, configuration: configuration)
    }
}
