import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Labels, bindings, localization, power sources, bridged devices.
@Suite struct SmallUtilityTests {
    @Test func userLabels() async throws {
        try await Bench.run { bench in
            try bench.add(UserLabel.id)
            bench.node.start()
            func write(_ labels: [(String, String)]) throws {
                try bench.write(
                    UserLabel.id, UserLabel.Attributes.labelList,
                    labels.map { TLVValue.structure([.init(.context(0), .utf8($0.0)), .init(.context(1), .utf8($0.1))]) })
            }
            try write([("room", "kitchen"), ("floor", "2")])
            #expect(status { try write([("a label that is too long", "x")]) } == .constraintError)
            #expect(status { try write([("x", "a value that is too long")]) } == .constraintError)
            #expect(status { try write((0..<17).map { ("\($0)", "x") }) } == .resourceExhausted)
            bench.restart { node in
                if let labels = ClusterFactory.make(UserLabel.id, endpoint: 1, node: node) {
                    node.add(EndpointServer(id: 1, deviceTypes: [], clusters: [labels]))
                }
            }
            #expect(try bench.read(UserLabel.id, UserLabel.Attributes.labelList).array?.count == 2)
        }
    }

    @Test func fixedLabelsComeFromTheProfile() async throws {
        try await Bench.run { bench in
            let label = TLVValue.structure([.init(.context(0), .utf8("side")), .init(.context(1), .utf8("left"))])
            try bench.add(FixedLabel.id, .init(attributes: [FixedLabel.Attributes.labelList: .array([label])]))
            bench.node.start()
            #expect(try bench.read(FixedLabel.id, FixedLabel.Attributes.labelList) == .array([label]))
            #expect(try bench.cluster(FixedLabel.id).attribute(FixedLabel.Attributes.labelList)?.writePrivilege == nil)
        }
    }

    @Test func bindingsNameAGroupOrAnEndpoint() async throws {
        try await Bench.run { bench in
            try bench.add(Binding.id)
            bench.node.start()
            typealias Target = Binding.TargetStruct
            func write(_ targets: [Target], fabric: UInt8 = 1) throws {
                try bench.write(Binding.id, Binding.Attributes.binding, targets, as: .node(1, fabric: fabric))
            }
            try write([Target(node: 7, endpoint: 1, cluster: 6), Target(group: 3)])
            try write([Target(node: 8, endpoint: 2)], fabric: 2)
            for wrong in [
                Target(), Target(node: 7), Target(endpoint: 1), Target(node: 7, group: 3, endpoint: 1),
                Target(group: 3, endpoint: 1),
                Target(group: 0), Target(node: 0, endpoint: 1),
            ] {
                let code = status { try write([wrong]) }
                #expect(code == .constraintError || code == .invalidDataType, "\(wrong)")
            }
            #expect(status { try write((1...11).map { Target(group: GroupID($0)) }) } == .resourceExhausted)
            let all = try [Target](tlv: bench.read(Binding.id, Binding.Attributes.binding))
            #expect(all.count == 3)
            bench.node.forget(1)
            let rest = try [Target](tlv: bench.read(Binding.id, Binding.Attributes.binding))
            #expect(rest.map(\.fabricIndex) == [2])
        }
    }

    @Test func localesAndFormats() async throws {
        try await Bench.run { bench in
            typealias Locale = LocalizationConfiguration
            typealias Format = TimeFormatLocalization
            try bench.add(Locale.id)
            try bench.add(Format.id, .init(features: Format.Feature.calendarFormat.rawValue))
            try bench.add(UnitLocalization.id)
            bench.node.start()
            #expect(try bench.read(Locale.id, Locale.Attributes.activeLocale) == .utf8("en-US"))
            try bench.write(Locale.id, Locale.Attributes.activeLocale, "de-DE")
            #expect(status { try bench.write(Locale.id, Locale.Attributes.activeLocale, "xx-XX") } == .constraintError)
            #expect(try bench.read(Locale.id, Locale.Attributes.activeLocale) == .utf8("de-DE"))

            try bench.write(Format.id, Format.Attributes.hourFormat, Format.HourFormatEnum._24hr)
            #expect(status { try bench.write(Format.id, Format.Attributes.hourFormat, UInt8(2)) } == .constraintError)
            try bench.write(Format.id, Format.Attributes.activeCalendarType, Format.CalendarTypeEnum.hebrew)
            #expect(status { try bench.write(Format.id, Format.Attributes.activeCalendarType, UInt8(12)) } == .constraintError)

            let unit = UnitLocalization.Attributes.temperatureUnit
            #expect(try bench.read(UnitLocalization.id, unit) == .unsigned(1))
            try bench.write(UnitLocalization.id, unit, UnitLocalization.TempUnitEnum.fahrenheit)
            #expect(status { try bench.write(UnitLocalization.id, unit, UInt8(3)) } == .constraintError)
        }
    }

    @Test func aBatteryRunsDown() async throws {
        try await Bench.run { bench in
            typealias Spec = PowerSource
            try bench.add(
                Spec.id,
                .init(
                    features: Spec.Feature.battery.rawValue, attributes: [Spec.Attributes.batPercentRemaining: .unsigned(200)],
                    optionalAttributes: [Spec.Attributes.activeBatFaults]))
            bench.node.start()
            let source = try #require(bench.node.cluster(PowerSourceCluster.self, at: 1))
            let percent = try #require(source.attribute(Spec.Attributes.batPercentRemaining))
            func level() throws -> Spec.BatChargeLevelEnum { try .init(tlv: bench.read(Spec.id, Spec.Attributes.batChargeLevel)) }
            #expect(try level() == .ok)
            try source.setLocally(percent, .unsigned(39))
            #expect(try level() == .warning)
            try source.setLocally(percent, .unsigned(19))
            #expect(try level() == .critical)
            let faults = try #require(source.attribute(Spec.Attributes.activeBatFaults))
            try source.setLocally(faults, .array([.unsigned(1)]))
            #expect(bench.events(Spec.id, Spec.Events.batFaultChange).count == 1)
        }
    }

    @Test func aBridgedDeviceComesAndGoes() async throws {
        try await Bench.run { bench in
            typealias Spec = BridgedDeviceBasicInformation
            try bench.add(Spec.id, .init(features: Spec.Feature.bridgedICDSupport.rawValue))
            bench.node.start()
            let info = try #require(bench.node.cluster(BridgedDeviceBasicInformationCluster.self, at: 1))
            let reachable = try #require(info.attribute(Spec.Attributes.reachable))
            try info.setLocally(reachable, .boolean(false))
            try info.setLocally(reachable, .boolean(false))
            #expect(bench.events(Spec.id, Spec.Events.reachableChanged).count == 1)
            try bench.invoke(Spec.KeepActive(stayActiveDuration: 60_000, timeoutMs: 30_000))
            try await bench.advance(.seconds(29))
            try info.setLocally(reachable, .boolean(true))
            let promised = try bench.events(Spec.id, Spec.Events.activeChanged).map { try Spec.ActiveChanged(tlv: $0.fields) }
            #expect(promised.map(\.promisedActiveDuration) == [60_000])
            // Too late.
            try info.setLocally(reachable, .boolean(false))
            try bench.invoke(Spec.KeepActive(stayActiveDuration: 1000, timeoutMs: 30_000))
            try await bench.advance(.seconds(31))
            try info.setLocally(reachable, .boolean(true))
            #expect(bench.events(Spec.id, Spec.Events.activeChanged).count == 1)
            #expect(
                status { try bench.invoke(Spec.KeepActive(stayActiveDuration: 1, timeoutMs: 1)) } == .constraintError)
            try bench.write(Spec.id, Spec.Attributes.nodeLabel, "Behind the bridge")
        }
    }

    @Test func whatABridgeCannotReachFails() async throws {
        try await Bench.run { bench in
            typealias Spec = BridgedDeviceBasicInformation
            try bench.add(Spec.id)
            // The device has a part, and beside it there is another device.
            try bench.add(Descriptor.id, ClusterConfiguration(parameters: ["parts": .array([.unsigned(2)])]))
            for endpoint: EndpointID in [1, 2, 3] {
                try bench.add(OnOff.id, at: endpoint, ClusterConfiguration(features: OnOff.Feature.lighting.rawValue))
                try bench.add(Identify.id, at: endpoint)
            }
            bench.node.start()
            for endpoint: EndpointID in [1, 2, 3] { try bench.invoke(OnOff.On(), at: endpoint) }
            try bench.setLocally(Spec.id, Spec.Attributes.reachable, .boolean(false))
            for endpoint: EndpointID in [1, 2, 3] {
                let expected: StatusCode? = endpoint == 3 ? nil : .failure
                #expect(status { try bench.invoke(OnOff.Off(), at: endpoint) } == expected)
                #expect(status { try bench.write(OnOff.id, OnOff.Attributes.onTime, UInt16(7), at: endpoint) } == expected)
                #expect(try bench.read(OnOff.id, OnOff.Attributes.onOff, at: endpoint) == .boolean(endpoint != 3), "the last known")
            }
            try bench.write(Spec.id, Spec.Attributes.nodeLabel, "The bridge's own")
            try bench.setLocally(Spec.id, Spec.Attributes.reachable, .boolean(true))
            for endpoint: EndpointID in [1, 2] { try bench.invoke(OnOff.Off(), at: endpoint) }
            #expect(try bench.read(OnOff.id, OnOff.Attributes.onOff) == .boolean(false))
            // A device that goes for good leaves no trace.
            try bench.setLocally(Spec.id, Spec.Attributes.reachable, .boolean(false))
            bench.node.stop()
            #expect(bench.node.unreachable.isEmpty)
        }
    }
}
