import MatterModel

extension ClusterFactory {
    static let climateMakers: [ClusterID: Maker] = [
        BooleanState.id: { BooleanStateCluster(endpoint: $0, node: $1, configuration: $2) },
        ElectricalEnergyMeasurement.id: { ElectricalEnergyMeasurementCluster(endpoint: $0, node: $1, configuration: $2) },
        ElectricalPowerMeasurement.id: { ElectricalPowerMeasurementCluster(endpoint: $0, node: $1, configuration: $2) },
        FanControl.id: { FanControlCluster(endpoint: $0, node: $1, configuration: $2) },
        FlowMeasurement.id: measurement(FlowMeasurement.definition, MeasurementCluster.flow),
        IlluminanceMeasurement.id: measurement(IlluminanceMeasurement.definition, MeasurementCluster.illuminance),
        ModeSelect.id: { ModeSelectCluster(endpoint: $0, node: $1, configuration: $2) },
        OccupancySensing.id: { OccupancySensingCluster(endpoint: $0, node: $1, configuration: $2) },
        PowerTopology.id: powerTopology,
        PressureMeasurement.id: measurement(PressureMeasurement.definition, MeasurementCluster.pressure),
        RelativeHumidityMeasurement.id: measurement(RelativeHumidityMeasurement.definition, MeasurementCluster.humidity),
        Switch.id: { SwitchCluster(endpoint: $0, node: $1, configuration: $2) },
        TemperatureMeasurement.id: measurement(TemperatureMeasurement.definition, MeasurementCluster.temperature),
        Thermostat.id: { ThermostatCluster(endpoint: $0, node: $1, configuration: $2) },
    ]

    private static func measurement(_ definition: ClusterDefinition, _ usual: MeasurementCluster.Usual) -> Maker {
        { MeasurementCluster(definition, usual: usual, endpoint: $0, node: $1, configuration: $2) }
    }

    /// Without a word in the profile a meter measures the whole node.
    private static let powerTopology: Maker = { endpoint, node, configuration in
        var configuration = configuration
        if configuration.features == 0 { configuration.features = PowerTopology.Feature.nodeTopology.rawValue }
        return Cluster(PowerTopology.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    static let climateParameters: [ClusterID: [ClusterParameter]] = [
        ElectricalEnergyMeasurement.id: [
            ClusterParameter("period", .seconds(1...86_400), "how often energy is measured while there is power, in seconds (300)")
        ] + electricalLoad,
        ElectricalPowerMeasurement.id: electricalLoad,
        FanControl.id: [ClusterParameter("autoPercent", .unsigned(0...100), "how fast the fan turns in automatic mode, in % (50)")],
        Switch.id: [
            ClusterParameter("longPress", .seconds(0.05...60), "how long a press lasts to be a long one, in seconds (0.8)"),
            ClusterParameter(
                "multiPressWindow", .seconds(0.05...60), "how long after a release another press counts to the same sequence (0.4)"),
        ],
        Thermostat.id: [
            ClusterParameter("heatLoss", .number(0...100_000), "heat that the room loses, in W per degree above the outdoors (100)"),
            ClusterParameter("heatCapacity", .number(1000...1e9), "heat that warms the room by one degree, in J (3000000)"),
            ClusterParameter("heaterPower", .number(0...1_000_000), "what the heater adds, in W (3000)"),
            ClusterParameter(
                "emergencyHeaterPower", .number(0...1_000_000), "what a second heater adds in emergency heat, in W (2000)"),
            ClusterParameter("coolerPower", .number(0...1_000_000), "what the cooler takes away, in W (3000)"),
            ClusterParameter(
                "hysteresis", .signed(1...500), "how far from a setpoint heater and cooler are switched, in 0.01 °C (25)"),
            ClusterParameter(
                "temperatureStep", .signed(1...500), "what LocalTemperature changes by at least, in 0.01 °C (10)"),
        ],
    ]

    private static let electricalLoad: [ClusterParameter] = [
        ClusterParameter("power", .number(-1e6...1e6), "what the appliance takes while it is on, in W (60)"),
        ClusterParameter("standbyPower", .number(-1e6...1e6), "what it takes while it is off, in W (0.5)"),
        ClusterParameter("voltage", .number(0...100_000), "in V (230)"),
        ClusterParameter("powerFactor", .number(0.01...1), "active by apparent power (1)"),
        ClusterParameter("frequency", .number(0...1000), "in Hz (50)"),
        ClusterParameter("source", .unsigned(0...0xFFFE), "the endpoint whose On/Off switches the appliance (the meter's own)"),
    ]
}
