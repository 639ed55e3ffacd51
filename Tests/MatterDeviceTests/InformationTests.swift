import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Basic Information, General Diagnostics, Network Commissioning: what a node says of itself.
@Suite struct InformationTests {
    typealias Basic = BasicInformation
    typealias Diagnostics = GeneralDiagnostics

    @Test func basicInformationIsTheIdentitys() async throws {
        try await Bench.run { bench in
            var identity = Bench.identity
            identity.partNumber = "P1"
            identity.nodeLabel = "Lamp"
            bench.node.addRootEndpoint(identity: identity, attestation: nil)
            bench.node.maximumPathsPerInvoke = 10
            bench.node.start()
            func read(_ attribute: AttributeID) throws -> TLVValue { try bench.read(Basic.id, attribute, at: 0) }
            #expect(try read(Basic.Attributes.vendorID) == .unsigned(0xFFF1))
            #expect(try read(Basic.Attributes.productName) == .utf8("Bench"))
            #expect(try read(Basic.Attributes.nodeLabel) == .utf8("Lamp"))
            #expect(try read(Basic.Attributes.location) == .utf8("XX"))
            #expect(try read(Basic.Attributes.partNumber) == .utf8("P1"))
            #expect(try read(Basic.Attributes.serialNumber) == .utf8("B-1"))
            #expect(try read(Basic.Attributes.uniqueID) == .utf8("bench-1"))
            #expect(try read(Basic.Attributes.specificationVersion) == .unsigned(0x0104_0000))
            #expect(try read(Basic.Attributes.dataModelRevision) == .unsigned(18))
            #expect(try read(Basic.Attributes.maxPathsPerInvoke) == .unsigned(10))
            let minima = try Basic.CapabilityMinimaStruct(tlv: read(Basic.Attributes.capabilityMinima))
            #expect(minima.caseSessionsPerFabric >= 3 && minima.subscriptionsPerFabric >= 3)
            #expect(bench.node.endpoint(0)?.cluster(Basic.id)?.attribute(Basic.Attributes.productURL) == nil)
            #expect(
                try bench.events(Basic.id, Basic.Events.startUp).map { try Basic.StartUp(tlv: $0.fields).softwareVersion } == [1])
            bench.node.announceShutDown()
            bench.node.stop()
            #expect(bench.events(Basic.id, Basic.Events.shutDown).count == 1)
            #expect(bench.node.events.records.last?.path.event == Basic.Events.shutDown, "the last there is")
        }
    }

    @Test func labelsAndPlacesAreChecked() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let label = Basic.Attributes.nodeLabel
            try bench.write(Basic.id, label, String(repeating: "é", count: 16), at: 0)
            #expect(
                status { try bench.write(Basic.id, label, String(repeating: "é", count: 16) + "x", at: 0) } == .constraintError)
            #expect(status { try bench.write(Basic.id, label, UInt8(1), at: 0) } == .invalidDataType)
            #expect(try bench.read(Basic.id, label, at: 0) == .utf8(String(repeating: "é", count: 16)))
            for right in ["FR", "fr", "XX"] { try bench.write(Basic.id, Basic.Attributes.location, right, at: 0) }
            for wrong in ["F", "FRA", "1A", ""] {
                #expect(status { try bench.write(Basic.id, Basic.Attributes.location, wrong, at: 0) } == .constraintError)
            }
            try bench.write(Basic.id, Basic.Attributes.localConfigDisabled, true, at: 0)
        }
    }

    @Test func aNameThatIsTooLongIsCutBetweenCharacters() async throws {
        #expect(BasicInformationCluster.clipped("short", to: 32) == "short")
        #expect(BasicInformationCluster.clipped(String(repeating: "é", count: 20), to: 31) == String(repeating: "é", count: 15))
        #expect(BasicInformationCluster.clipped("🏠🏠", to: 7) == "🏠")
        try await Bench.run { bench in
            var identity = Bench.identity
            identity.nodeLabel = String(repeating: "x", count: 40)
            identity.location = "nowhere"
            bench.node.addRootEndpoint(identity: identity, attestation: nil)
            bench.node.start()
            let label = try bench.read(Basic.id, Basic.Attributes.nodeLabel, at: 0)
            #expect(label == .utf8(String(repeating: "x", count: 32)))
            #expect(try bench.read(Basic.id, Basic.Attributes.location, at: 0) == .utf8("XX"))
        }
    }

    @Test func diagnosticsCountRebootsAndHours() async throws {
        try await Bench.run { bench in
            func root(_ node: DeviceNode) { node.addRootEndpoint(identity: Bench.identity, attestation: nil) }
            root(bench.node)
            bench.node.start()
            func read(_ attribute: AttributeID) throws -> TLVValue { try bench.read(Diagnostics.id, attribute, at: 0) }
            #expect(try read(Diagnostics.Attributes.rebootCount) == .unsigned(0))
            #expect(try read(Diagnostics.Attributes.bootReason) == Diagnostics.BootReasonEnum.powerOnReboot.tlv)
            try await bench.advance(.seconds(5400))
            #expect(try read(Diagnostics.Attributes.upTime) == .unsigned(5400))
            #expect(try read(Diagnostics.Attributes.totalOperationalHours) == .unsigned(1))
            bench.restart { root($0) }
            bench.node.stop()
            bench.node.bootReason = .softwareReset
            bench.node.start()
            #expect(try read(Diagnostics.Attributes.rebootCount) == .unsigned(2))
            #expect(try read(Diagnostics.Attributes.upTime) == .unsigned(0))
            #expect(try read(Diagnostics.Attributes.bootReason) == Diagnostics.BootReasonEnum.softwareReset.tlv)
            try await bench.advance(.seconds(1800))
            #expect(try read(Diagnostics.Attributes.totalOperationalHours) == .unsigned(2), "1.5 h before and 0.5 h now")
            let events = bench.events(Diagnostics.id, Diagnostics.Events.bootReason)
            #expect(events.last.map { $0.fields[0] == Diagnostics.BootReasonEnum.softwareReset.tlv } == true)
        }
    }

    @Test func faultsAreEvents() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let diagnostics = try #require(bench.node.cluster(GeneralDiagnosticsCluster.self, at: 0))
            let faults = Diagnostics.Attributes.activeHardwareFaults
            let definition = try #require(diagnostics.attribute(faults))
            try diagnostics.setLocally(definition, [Diagnostics.HardwareFaultEnum.sensor].tlv)
            try diagnostics.setLocally(definition, [Diagnostics.HardwareFaultEnum.sensor].tlv)
            try diagnostics.setLocally(definition, .array([]))
            let events = try bench.events(Diagnostics.id, Diagnostics.Events.hardwareFaultChange).map {
                try Diagnostics.HardwareFaultChange(tlv: $0.fields)
            }
            #expect(events == [.init(current: [.sensor], previous: []), .init(current: [], previous: [.sensor])])
        }
    }

    @Test func faultsThatAreTriggeredAreThere() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let diagnostics = try #require(bench.node.cluster(GeneralDiagnosticsCluster.self, at: 0))
            func list(_ numbers: UInt64...) -> TLVValue { .array(numbers.map { .unsigned($0) }) }
            func fields(_ current: TLVValue, _ previous: TLVValue) -> TLVValue {
                .structure([.init(.context(0), current), .init(.context(1), previous)])
            }
            for (event, attribute) in [
                (Diagnostics.Events.hardwareFaultChange, Diagnostics.Attributes.activeHardwareFaults),
                (Diagnostics.Events.radioFaultChange, Diagnostics.Attributes.activeRadioFaults),
                (Diagnostics.Events.networkFaultChange, Diagnostics.Attributes.activeNetworkFaults),
            ] {
                let definition = try #require(diagnostics.event(event))
                let number = try diagnostics.triggerLocally(definition, fields(list(1, 2), list()))
                #expect(try bench.read(Diagnostics.id, attribute, at: 0) == list(1, 2))
                #expect(bench.events(Diagnostics.id, event).last?.number == number)
                // What there was before, the device knows best.
                _ = try diagnostics.triggerLocally(definition, fields(list(2), list()))
                #expect(try bench.read(Diagnostics.id, attribute, at: 0) == list(2))
                #expect(bench.events(Diagnostics.id, event).map(\.fields) == [fields(list(1, 2), list()), fields(list(2), list(1, 2))])
            }
        }
    }

    private final class Trigger: Cluster, TestEventHandler {
        func testEvent(_ trigger: UInt64) -> Bool { trigger == 7 }
    }

    @Test func testEventsNeedTheKey() async throws {
        try await Bench.run { bench in
            let key = [UInt8](1...16)
            bench.node.addRootEndpoint(
                identity: Bench.identity, attestation: nil,
                configurations: [
                    Diagnostics.id: .init(
                        features: Diagnostics.Feature.dataModelTest.rawValue, parameters: ["enableKey": .octets(key)])
                ])
            bench.node.add(
                EndpointServer(
                    id: 1, deviceTypes: [],
                    clusters: [Trigger(OnOff.definition, endpoint: 1, node: bench.node)]))
            bench.node.start()
            #expect(try bench.read(Diagnostics.id, Diagnostics.Attributes.testEventTriggersEnabled, at: 0) == .boolean(true))
            func trigger(_ key: [UInt8], _ number: UInt64) -> StatusCode? {
                status { try bench.invoke(Diagnostics.TestEventTrigger(enableKey: key, eventTrigger: number), at: 0) }
            }
            #expect(trigger(key, 7) == nil)
            #expect(trigger(key, 8) == .invalidCommand)
            #expect(trigger([UInt8](repeating: 9, count: 16), 7) == .constraintError)
            #expect(trigger([1], 7) == .constraintError)
            let payload = try bench.invoke(Diagnostics.PayloadTestRequest(enableKey: key, value: 5, count: 600), at: 0).payload
            #expect(payload == [UInt8](repeating: 5, count: 600))
            var small = SessionContext.node(1)
            small.maximumMessageSize = 500
            #expect(
                status {
                    try bench.invoke(
                        Diagnostics.PayloadTestRequest(enableKey: key, value: 5, count: 600), at: 0, .init(peer: small))
                } == .resourceExhausted)
        }
    }

    @Test func withoutAKeyThereAreNoTestEvents() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            #expect(try bench.read(Diagnostics.id, Diagnostics.Attributes.testEventTriggersEnabled, at: 0) == .boolean(false))
            #expect(
                status {
                    try bench.invoke(
                        Diagnostics.TestEventTrigger(enableKey: [UInt8](repeating: 0, count: 16), eventTrigger: 1), at: 0)
                } == .constraintError)
            try await bench.advance(.milliseconds(1234))
            let time = try bench.invoke(Diagnostics.TimeSnapshot(), at: 0)
            #expect(time.systemTimeMs == 1234 && time.posixTimeMs == .value(1_767_225_601_234))
        }
    }

    @Test func theOneInterfaceIsEthernet() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let interfaces = try [Diagnostics.NetworkInterface](
                tlv: bench.read(Diagnostics.id, Diagnostics.Attributes.networkInterfaces, at: 0))
            #expect(interfaces.map(\.type) == [.ethernet])
            #expect(interfaces.first.map { $0.hardwareAddress.count == 6 && $0.hardwareAddress[0] == 2 } == true)
            typealias Network = NetworkCommissioning
            #expect(try bench.read(Network.id, 0xFFFC, at: 0) == .unsigned(4))
            let networks = try [Network.NetworkInfoStruct](tlv: bench.read(Network.id, Network.Attributes.networks, at: 0))
            #expect(networks == [.init(networkID: Array("eth0".utf8), connected: true)])
            #expect(try bench.read(Network.id, Network.Attributes.maxNetworks, at: 0) == .unsigned(1))
            #expect(try bench.read(Network.id, Network.Attributes.lastNetworkingStatus, at: 0) == .null)
            try bench.write(Network.id, Network.Attributes.interfaceEnabled, true, at: 0)
            #expect(status { try bench.write(Network.id, Network.Attributes.interfaceEnabled, false, at: 0) } == .invalidAction)
            #expect(bench.node.endpoint(0)?.cluster(Network.id)?.command(Network.Commands.scanNetworks) == nil)
        }
    }

    /// A figure that changes at the device.
    private static func set(_ bench: Bench, _ cluster: ClusterID, _ attribute: AttributeID, _ value: UInt64) throws {
        let server = try #require(bench.node.endpoint(1)?.cluster(cluster) as? Cluster)
        let definition = try #require(server.attribute(attribute))
        try server.setLocally(definition, .unsigned(value))
    }

    @Test func countersAndWatermarksCanBeReset() async throws {
        try await Bench.run { bench in
            typealias Ethernet = EthernetNetworkDiagnostics
            typealias Software = SoftwareDiagnostics
            try bench.add(Ethernet.id, .init(features: Ethernet.Feature([.packetCounts, .errorCounts]).rawValue))
            let thread = Software.ThreadMetricsStruct(id: 1, stackFreeCurrent: 300, stackFreeMinimum: 100)
            try bench.add(
                Software.id,
                .init(
                    features: Software.Feature.watermarks.rawValue,
                    attributes: [
                        Software.Attributes.currentHeapUsed: .unsigned(50), Software.Attributes.threadMetrics: [thread].tlv,
                    ]))
            bench.node.start()
            try Self.set(bench, Ethernet.id, Ethernet.Attributes.packetRxCount, 7)
            try await bench.advance(.milliseconds(1500))
            #expect(try bench.read(Ethernet.id, Ethernet.Attributes.packetRxCount) == .unsigned(7))
            #expect(try bench.read(Ethernet.id, Ethernet.Attributes.timeSinceReset) == .unsigned(1500))
            try bench.invoke(Ethernet.ResetCounts())
            #expect(try bench.read(Ethernet.id, Ethernet.Attributes.packetRxCount) == .unsigned(0))
            #expect(try bench.read(Ethernet.id, Ethernet.Attributes.timeSinceReset) == .unsigned(0))

            let mark = Software.Attributes.currentHeapHighWatermark
            #expect(try bench.read(Software.id, mark) == .unsigned(50))
            try Self.set(bench, Software.id, Software.Attributes.currentHeapUsed, 80)
            try Self.set(bench, Software.id, Software.Attributes.currentHeapUsed, 60)
            #expect(try bench.read(Software.id, mark) == .unsigned(80))
            try bench.invoke(Software.ResetWatermarks())
            #expect(try bench.read(Software.id, mark) == .unsigned(60))
            let threads = try [Software.ThreadMetricsStruct](tlv: bench.read(Software.id, Software.Attributes.threadMetrics))
            #expect(threads.map(\.stackFreeMinimum) == [300])
        }
    }
}
