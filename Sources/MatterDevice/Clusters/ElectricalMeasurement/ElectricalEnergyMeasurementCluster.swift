import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Electrical Energy Measurement (Matter Application Clusters, 2.12): what has been used and fed in so far, and in the last period.
///
/// Energy is power times time since the power last changed; nothing counts. A measurement is taken, with its event, every `period` while
/// there is power, and when the power changes. The power is that of Electrical Power Measurement on the same endpoint, else that of an
/// `ElectricalLoad`, whose parameters this cluster has too.
///
/// Parameters of the profile: `period` (300 s), and those of `ElectricalLoad`.
public final class ElectricalEnergyMeasurementCluster: Cluster {
    typealias Spec = ElectricalEnergyMeasurement
    private typealias Attributes = ElectricalEnergyMeasurement.Attributes

    /// Energy of one direction in mW·ms, up to `since`.
    private struct Meter {
        var imported: Int64 = 0
        var exported: Int64 = 0
    }

    private let load: ElectricalLoad
    private let period: Duration
    private var total = Meter()
    private var since: ModelInstant
    private var power: Int64 = 0
    private var timer: Token?
    /// The kept meter is there. A sibling that starts first tells of its power before that.
    private var isMetering = false
    /// The last measurement: when, and what the meter showed.
    private var measured: (at: ModelInstant, wall: UInt32, meter: Meter)

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        var features = Spec.Feature(rawValue: configuration.features)
        if features.isDisjoint(with: [.importedEnergy, .exportedEnergy]) { features.insert(.importedEnergy) }
        if features.isDisjoint(with: [.cumulativeEnergy, .periodicEnergy]) { features.insert(.cumulativeEnergy) }
        configuration.features = features.rawValue
        load = ElectricalLoad(configuration.parameters, endpoint: endpoint)
        period = .milliseconds(Int64(min(max(configuration.parameters["period"]?.unsigned ?? 300_000, 1000), 86_400_000)))
        since = node.environment.now
        measured = (since, 0, Meter())
        let most: Int64 = 1_000_000_000_000
        let accuracy = GlobalTypes.MeasurementAccuracyStruct(
            measurementType: .electricalEnergy, measured: true, minMeasuredValue: 0, maxMeasuredValue: most,
            accuracyRanges: [.init(rangeMin: 0, rangeMax: most, percentMax: 100)])
        configuration.attributes.merge([Attributes.accuracy: accuracy.tlv]) { said, _ in said }
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    // MARK: Running

    public override func start() {
        let now = node.environment.now
        total = keptMeter
        (since, timer, measured, isMetering) = (now, nil, (now, epochSeconds, total), true)
        let sibling = node.cluster(ElectricalPowerMeasurementCluster.self, at: endpoint)
        power = sibling?.milliwatts ?? load.present(node)
        show(total, event: false)
        wait()
        if sibling == nil {
            node.observe(load.source, OnOff.id, OnOff.Attributes.onOff) { [weak self] in
                guard let self else { return }
                powerChanged(to: load.present(node))
            }
        }
    }

    public override func stop() {
        keepMeter()
        isMetering = false
    }

    /// The power is another from now on, in mW.
    func powerChanged(to power: Int64) {
        // Before its own start this cluster knows no meter yet; at the start it asks for the power itself.
        guard isMetering, power != self.power else { return }
        measure()
        self.power = power
        wait()
    }

    private func wait() {
        cancel(timer)
        timer = nil
        guard power != 0 else { return }
        timer = after(period) { [weak self] in
            guard let self else { return }
            timer = nil
            measure()
            wait()
        }
    }

    /// What the meter shows now.
    private var present: Meter {
        let milliseconds = (node.environment.now - since).wholeNanoseconds / 1_000_000
        let (energy, overflow) = power.multipliedReportingOverflow(by: milliseconds)
        var meter = total
        guard !overflow else { return meter }
        if energy > 0 { meter.imported = Self.sum(meter.imported, energy) }
        if energy < 0 { meter.exported = Self.sum(meter.exported, -energy) }
        return meter
    }

    private static func sum(_ energy: Int64, _ more: Int64) -> Int64 {
        let (sum, overflow) = energy.addingReportingOverflow(more)
        return overflow ? .max : sum
    }

    private func measure() {
        let now = node.environment.now
        // Only whole milliseconds were counted; the rest counts next time.
        let rest = (now - since).wholeNanoseconds % 1_000_000
        total = present
        since = ModelInstant(nanoseconds: now.nanoseconds - rest)
        keepMeter()
        show(total, event: now > measured.at)
    }

    // MARK: Showing

    private var epochSeconds: UInt32 {
        UInt32(clamping: node.environment.wall.wholeNanoseconds / 1_000_000_000 - ThermostatCluster.unixSecondsOf2000)
    }
    private func systime(_ instant: ModelInstant) -> UInt64 {
        UInt64(max(0, (instant - node.started).wholeNanoseconds / 1_000_000))
    }

    private func show(_ meter: Meter, event: Bool) {
        let (now, wall) = (node.environment.now, epochSeconds)
        // Times since 2000 where the device knows them, and since its start always.
        func energy(_ amount: Int64, fromLast: Bool) -> TLVValue {
            Spec.EnergyMeasurementStruct(
                energy: amount / 3_600_000, startTimestamp: fromLast && wall > measured.wall ? measured.wall : nil,
                endTimestamp: wall > 0 ? wall : nil, startSystime: fromLast && now > measured.at ? systime(measured.at) : nil,
                endSystime: systime(now)
            ).tlv
        }
        let before = measured.meter
        let cumulative = (energy(meter.imported, fromLast: false), energy(meter.exported, fromLast: false))
        // The energy of a period is the difference of what the meter shows, so that periods sum up to the whole.
        func difference(_ new: Int64, _ old: Int64) -> Int64 { (new / 3_600_000 - old / 3_600_000) * 3_600_000 }
        let periodic = (
            energy(difference(meter.imported, before.imported), fromLast: true),
            energy(difference(meter.exported, before.exported), fromLast: true)
        )
        set(Attributes.cumulativeEnergyImported, cumulative.0)
        set(Attributes.cumulativeEnergyExported, cumulative.1)
        guard event else { return }
        set(Attributes.periodicEnergyImported, periodic.0)
        set(Attributes.periodicEnergyExported, periodic.1)
        if hasFeature(Spec.Feature.cumulativeEnergy.rawValue) { emit(Spec.Events.cumulativeEnergyMeasured, fields(cumulative)) }
        if hasFeature(Spec.Feature.periodicEnergy.rawValue) { emit(Spec.Events.periodicEnergyMeasured, fields(periodic)) }
        measured = (now, wall, meter)
    }

    private func fields(_ energy: (imported: TLVValue, exported: TLVValue)) -> TLVValue {
        var members: [TLVElement] = []
        if hasFeature(Spec.Feature.importedEnergy.rawValue) { members.append(.init(.context(0), energy.imported)) }
        if hasFeature(Spec.Feature.exportedEnergy.rawValue) { members.append(.init(.context(1), energy.exported)) }
        return .structure(members)
    }

    // MARK: Over a restart

    private var keptMeter: Meter {
        guard let value = kept("meter").flatMap({ try? TLVValue(decoding: $0) })?.array, value.count == 2 else { return Meter() }
        return Meter(imported: value[0].signed ?? 0, exported: value[1].signed ?? 0)
    }
    private func keepMeter() {
        let meter = present
        keep(TLVValue.array([.signed(meter.imported), .signed(meter.exported)]).encoded(), as: "meter")
    }
}
