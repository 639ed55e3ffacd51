import MatterModel
import MatterTLV

/// An attribute with the type of its values: `.onOff.onOff`, `.doorLock.lockState`, or any other by its ids.
///
/// ```swift
/// try await home.expect("lamp", .onOff.onOff, equals: true, within: .seconds(1))
/// ```
public struct AttributeKey<Value: TLVConvertible>: Sendable {
    public let cluster: ClusterID
    public let attribute: AttributeID

    public init(_ cluster: ClusterID, _ attribute: AttributeID, as type: Value.Type = Value.self) {
        (self.cluster, self.attribute) = (cluster, attribute)
    }

    /// The attribute on one endpoint.
    public func path(_ endpoint: EndpointID) -> AttributePath { AttributePath(endpoint, cluster, attribute) }
}

// The attributes that tests ask for most, by cluster.
extension AttributeKey {
    public static var onOff: OnOffKeys { OnOffKeys() }
    public static var levelControl: LevelControlKeys { LevelControlKeys() }
    public static var colorControl: ColorControlKeys { ColorControlKeys() }
    public static var windowCovering: WindowCoveringKeys { WindowCoveringKeys() }
    public static var doorLock: DoorLockKeys { DoorLockKeys() }
    public static var thermostat: ThermostatKeys { ThermostatKeys() }
    public static var temperatureMeasurement: TemperatureKeys { TemperatureKeys() }
    public static var occupancySensing: OccupancyKeys { OccupancyKeys() }
    public static var booleanState: BooleanStateKeys { BooleanStateKeys() }
    public static var basicInformation: BasicInformationKeys { BasicInformationKeys() }
}

/// Attributes of On/Off. `onTime` is in tenths of a second.
public struct OnOffKeys: Sendable {
    public var onOff: AttributeKey<Bool> { .init(OnOff.id, OnOff.Attributes.onOff) }
    public var onTime: AttributeKey<UInt16> { .init(OnOff.id, OnOff.Attributes.onTime) }
}

/// Attributes of Level Control. Levels run from 0 to 254, `remainingTime` is in tenths of a second.
public struct LevelControlKeys: Sendable {
    public var currentLevel: AttributeKey<Nullable<UInt8>> { .init(LevelControl.id, LevelControl.Attributes.currentLevel) }
    public var remainingTime: AttributeKey<UInt16> { .init(LevelControl.id, LevelControl.Attributes.remainingTime) }
}

/// Attributes of Color Control. Hue and saturation run from 0 to 254.
public struct ColorControlKeys: Sendable {
    public var currentHue: AttributeKey<UInt8> { .init(ColorControl.id, ColorControl.Attributes.currentHue) }
    public var currentSaturation: AttributeKey<UInt8> { .init(ColorControl.id, ColorControl.Attributes.currentSaturation) }
    public var colorTemperatureMireds: AttributeKey<UInt16> { .init(ColorControl.id, ColorControl.Attributes.colorTemperatureMireds) }
}

/// Attributes of Window Covering. Positions are in hundredths of a per cent, from 0 (open) to 10,000 (closed).
public struct WindowCoveringKeys: Sendable {
    public var currentPositionLift: AttributeKey<Nullable<UInt16>> {
        .init(WindowCovering.id, WindowCovering.Attributes.currentPositionLiftPercent100ths)
    }
    public var targetPositionLift: AttributeKey<Nullable<UInt16>> {
        .init(WindowCovering.id, WindowCovering.Attributes.targetPositionLiftPercent100ths)
    }
    public var safetyStatus: AttributeKey<WindowCovering.SafetyStatusBitmap> {
        .init(WindowCovering.id, WindowCovering.Attributes.safetyStatus)
    }
}

/// Attributes of Door Lock.
public struct DoorLockKeys: Sendable {
    public var lockState: AttributeKey<Nullable<DoorLock.LockStateEnum>> { .init(DoorLock.id, DoorLock.Attributes.lockState) }
    public var doorState: AttributeKey<Nullable<DoorLock.DoorStateEnum>> { .init(DoorLock.id, DoorLock.Attributes.doorState) }
}

/// Attributes of Thermostat. Temperatures are in hundredths of a degree Celsius.
public struct ThermostatKeys: Sendable {
    public var localTemperature: AttributeKey<Nullable<Int16>> { .init(Thermostat.id, Thermostat.Attributes.localTemperature) }
    public var occupiedHeatingSetpoint: AttributeKey<Int16> { .init(Thermostat.id, Thermostat.Attributes.occupiedHeatingSetpoint) }
    public var occupiedCoolingSetpoint: AttributeKey<Int16> { .init(Thermostat.id, Thermostat.Attributes.occupiedCoolingSetpoint) }
    public var systemMode: AttributeKey<Thermostat.SystemModeEnum> { .init(Thermostat.id, Thermostat.Attributes.systemMode) }
}

/// Attributes of Temperature Measurement, in hundredths of a degree Celsius.
public struct TemperatureKeys: Sendable {
    public var measuredValue: AttributeKey<Nullable<Int16>> {
        .init(TemperatureMeasurement.id, TemperatureMeasurement.Attributes.measuredValue)
    }
}

/// Attributes of Occupancy Sensing.
public struct OccupancyKeys: Sendable {
    public var occupancy: AttributeKey<OccupancySensing.OccupancyBitmap> {
        .init(OccupancySensing.id, OccupancySensing.Attributes.occupancy)
    }
}

/// Attributes of Boolean State. What true means is the device type's: a contact sensor's contact is closed.
public struct BooleanStateKeys: Sendable {
    public var stateValue: AttributeKey<Bool> { .init(BooleanState.id, BooleanState.Attributes.stateValue) }
}

/// Attributes of Basic Information, which is on endpoint 0.
public struct BasicInformationKeys: Sendable {
    public var nodeLabel: AttributeKey<String> { .init(BasicInformation.id, BasicInformation.Attributes.nodeLabel) }
    public var reachable: AttributeKey<Bool> { .init(BasicInformation.id, BasicInformation.Attributes.reachable) }
}

extension VirtualHome {
    /// Returns when the controller reads `value`; time moves on for at most `limit` until it does.
    /// - Throws: `ExpectationFailure` with the place of this call and the journal's last lines for the device.
    public func expect<Value>(
        _ device: String, _ key: AttributeKey<Value>, endpoint: EndpointID = 1, equals value: Value, within limit: Duration = .zero,
        file: String = #fileID, line: Int = #line
    ) async throws {
        try await expect(
            device, key.cluster, key.attribute, endpoint: endpoint, equals: value.tlv, within: limit, file: file, line: line)
    }

    /// Reads an attribute through the controller. - Throws: `Status` when the device refuses, `ControllerError`, `TLVError`.
    public func read<Value>(_ device: String, _ key: AttributeKey<Value>, endpoint: EndpointID = 1) async throws -> Value {
        try Value(tlv: try await read(device, key.path(endpoint)))
    }
}

extension VirtualDevice {
    /// The value as the device has it now, whoever may read it.
    public func value<Value>(_ key: AttributeKey<Value>, endpoint: EndpointID = 1) async throws -> Value {
        try Value(tlv: try await value(key.cluster, key.attribute, endpoint: endpoint))
    }

    /// Changes the attribute at the device itself: a hand on the switch, a warmer room.
    public func set<Value>(_ key: AttributeKey<Value>, to value: Value, endpoint: EndpointID = 1) async throws {
        try await set(key.cluster, key.attribute, to: value.tlv, endpoint: endpoint)
    }

    /// Raises an event at the device itself, with the fields of the data model.
    @discardableResult
    public func trigger<Event: EventPayload>(_ event: Event, endpoint: EndpointID = 1) async throws -> EventNumber {
        try await trigger(Event.cluster, Event.id, event.tlv, endpoint: endpoint)
    }
}
