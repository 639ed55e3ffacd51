import MatterInteraction
import MatterModel
import MatterTLV

/// Time Format Localization (Matter Core, 11.4).
public final class TimeFormatLocalizationCluster: Cluster {
    typealias Spec = TimeFormatLocalization

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        func preset(_ attribute: AttributeID, _ value: some TLVConvertible) {
            if configuration.attributes[attribute] == nil { configuration.attributes[attribute] = value.tlv }
        }
        preset(Spec.Attributes.hourFormat, Spec.HourFormatEnum.useActiveLocale)
        if configuration.features & Spec.Feature.calendarFormat.rawValue != 0 {
            preset(Spec.Attributes.activeCalendarType, Spec.CalendarTypeEnum.gregorian)
            preset(Spec.Attributes.supportedCalendarTypes, (UInt8(0)...11).map { Spec.CalendarTypeEnum(rawValue: $0) })
        }
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        if attribute.id == Spec.Attributes.activeCalendarType {
            let supported = self.value(Spec.Attributes.supportedCalendarTypes).array ?? []
            guard supported.contains(value) || value == Spec.CalendarTypeEnum.useActiveLocale.tlv else {
                throw Status(.constraintError, "the device does not know this calendar")
            }
        }
        return value
    }
}
