import MatterModel

extension ClusterFactory {
    static let climateMakers: [ClusterID: Maker] = [
        Thermostat.id: { ThermostatCluster(endpoint: $0, node: $1, configuration: $2) }
    ]

    static let climateParameters: [ClusterID: [ClusterParameter]] = [
        Thermostat.id: [
            ClusterParameter(
                "heatLoss", .number(0...100_000), "heat that the room loses, in W per degree above the outdoors (100)"),
            ClusterParameter("heatCapacity", .number(1000...1e9), "heat that warms the room by one degree, in J (3000000)"),
            ClusterParameter("heaterPower", .number(0...1_000_000), "what the heater adds, in W (3000)"),
            ClusterParameter("coolerPower", .number(0...1_000_000), "what the cooler takes away, in W (3000)"),
            ClusterParameter(
                "hysteresis", .signed(1...500), "how far from a setpoint heater and cooler are switched, in 0.01 °C (25)"),
            ClusterParameter(
                "temperatureStep", .signed(1...500), "what LocalTemperature changes by at least, in 0.01 °C (10)"),
        ]
    ]
}
