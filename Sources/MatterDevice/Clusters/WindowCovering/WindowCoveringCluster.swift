import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Window Covering (Matter Application Clusters, 5.3): motors that take their time.
///
/// Parameters of the profile, in milliseconds: `travelTime`, from open to closed (default 20 s), and `tiltTime`, the same for the slats
/// (default 2 s).
/// The first position comes from the first value of CurrentPosition…Percent100ths or …Percentage, else the covering is open.
///
/// By hand (`setLocally`): a CurrentPosition… puts the covering there; a TargetPosition… is the switch on the wall; SafetyStatus with
/// ObstacleDetected puts something in the covering's way just where it is, and a bit such as MotorJammed stops it and refuses motion
/// until it is cleared. `obstacle` puts something further ahead.
public final class WindowCoveringCluster: Cluster {
    typealias Spec = WindowCovering
    typealias Feature = Spec.Feature

    private(set) var lift: CoveringAxis?
    private(set) var tilt: CoveringAxis?
    private var tick: Token?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        var features = Feature(rawValue: configuration.features)
        if features.isDisjoint(with: [.lift, .tilt]) { features.insert([.lift, .positionAwareLift]) }
        configuration.features = features.rawValue
        let hasBoth = features.contains([.lift, .tilt])
        let type: Spec.TypeEnum = hasBoth ? .tiltBlindLift : features.contains(.lift) ? .rollershade : .tiltBlindTiltOnly
        let product: Spec.EndProductTypeEnum =
            hasBoth ? .interiorBlind : features.contains(.lift) ? .rollerShade : .tiltOnlyInteriorBlind
        configuration.attributes[Spec.Attributes.type] = configuration.attributes[Spec.Attributes.type] ?? type.tlv
        configuration.attributes[Spec.Attributes.endProductType] =
            configuration.attributes[Spec.Attributes.endProductType] ?? product.tlv
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: (
                [
                    Spec.Attributes.currentPositionLiftPercentage, Spec.Attributes.currentPositionTiltPercentage,
                    Spec.Attributes.currentPositionLift, Spec.Attributes.currentPositionTilt,
                    Spec.Attributes.physicalClosedLimitLift, Spec.Attributes.physicalClosedLimitTilt,
                    Spec.Attributes.numberOfActuationsLift, Spec.Attributes.numberOfActuationsTilt, Spec.Attributes.safetyStatus,
                ],
                [
                    Spec.Commands.goToLiftPercentage, Spec.Commands.goToTiltPercentage, Spec.Commands.goToLiftValue,
                    Spec.Commands.goToTiltValue,
                ]
            ))
        if features.contains(.lift) {
            lift = CoveringAxis(.lift, travel: time("travelTime", or: .seconds(20)), position: firstPosition(.lift))
        }
        if features.contains(.tilt) {
            tilt = CoveringAxis(.tilt, travel: time("tiltTime", or: .seconds(2)), position: firstPosition(.tilt))
        }
    }

    /// At most a day, so that positions can be computed in 64 bits.
    private func time(_ name: String, or usual: Duration) -> Duration {
        guard let milliseconds = configuration.parameters[name]?.unsigned else { return usual }
        return .milliseconds(Int64(min(milliseconds, 86_400_000)))
    }

    private func firstPosition(_ kind: CoveringAxis.Kind) -> UInt16 {
        let ids = Attributes(kind)
        guard isPositionAware(kind) else {
            return kept(ids.name).flatMap { try? TLVValue(decoding: $0).unsigned }.map { UInt16(clamping: $0) } ?? 0
        }
        if let value = value(ids.current).unsigned { return UInt16(clamping: value) }
        if let percent = value(ids.currentPercentage).unsigned { return UInt16(clamping: min(percent, 100) * 100) }
        return 0
    }

    func isPositionAware(_ kind: CoveringAxis.Kind) -> Bool {
        hasFeature((kind == .lift ? Feature.positionAwareLift : .positionAwareTilt).rawValue)
    }

    /// The attributes of one movement.
    struct Attributes {
        let name: String
        let current, currentPercentage, currentValue, target, actuations: AttributeID
        let openLimit, closedLimit: AttributeID

        init(_ kind: CoveringAxis.Kind) {
            typealias Ids = WindowCovering.Attributes
            switch kind {
            case .lift:
                name = "lift"
                (current, currentPercentage) = (Ids.currentPositionLiftPercent100ths, Ids.currentPositionLiftPercentage)
                (currentValue, target) = (Ids.currentPositionLift, Ids.targetPositionLiftPercent100ths)
                (openLimit, closedLimit) = (Ids.installedOpenLimitLift, Ids.installedClosedLimitLift)
                actuations = Ids.numberOfActuationsLift
            case .tilt:
                name = "tilt"
                (current, currentPercentage) = (Ids.currentPositionTiltPercent100ths, Ids.currentPositionTiltPercentage)
                (currentValue, target) = (Ids.currentPositionTilt, Ids.targetPositionTiltPercent100ths)
                (openLimit, closedLimit) = (Ids.installedOpenLimitTilt, Ids.installedClosedLimitTilt)
                actuations = Ids.numberOfActuationsTilt
            }
        }
    }

    // MARK: Running

    public override func start() {
        // The motors stand still after a power cut, wherever they were.
        tick = nil
        for kind in kinds {
            change(kind) { $0.stop(at: node.environment.now) }
            publish(kind)
        }
        set(Spec.Attributes.operationalStatus, .unsigned(0))
        let closedLimits = [
            (Spec.Attributes.physicalClosedLimitLift, Spec.Attributes.installedClosedLimitLift),
            (Spec.Attributes.physicalClosedLimitTilt, Spec.Attributes.installedClosedLimitTilt),
        ]
        for (physical, installed) in closedLimits where configuration.attributes[physical] == nil {
            set(physical, value(installed))
        }
        updateConfigStatus()
    }

    public override func stop() {
        for kind in kinds {
            change(kind) { $0.stop(at: node.environment.now) }
            store(kind)
        }
    }

    var kinds: [CoveringAxis.Kind] { (lift == nil ? [] : [.lift]) + (tilt == nil ? [] : [.tilt]) }
    func axis(_ kind: CoveringAxis.Kind) -> CoveringAxis? { kind == .lift ? lift : tilt }
    func change(_ kind: CoveringAxis.Kind, _ body: (inout CoveringAxis) -> Void) {
        if kind == .lift, var axis = lift {
            body(&axis)
            lift = axis
        } else if kind == .tilt, var axis = tilt {
            body(&axis)
            tilt = axis
        }
    }

    private var mode: Spec.ModeBitmap { Spec.ModeBitmap(rawValue: UInt8(clamping: value(Spec.Attributes.mode).unsigned ?? 0)) }
    var safety: Spec.SafetyStatusBitmap {
        Spec.SafetyStatusBitmap(rawValue: UInt16(clamping: value(Spec.Attributes.safetyStatus).unsigned ?? 0))
    }

    private func updateConfigStatus() {
        var status: Spec.ConfigStatusBitmap = []
        if mode.isDisjoint(with: [.calibrationMode, .maintenanceMode]) { status.insert(.operational) }
        if lift != nil, mode.contains(.motorDirectionReversed) { status.insert(.liftMovementReversed) }
        if isPositionAware(.lift) { status.formUnion([.liftPositionAware, .liftEncoderControlled]) }
        if isPositionAware(.tilt) { status.formUnion([.tiltPositionAware, .tiltEncoderControlled]) }
        set(Spec.Attributes.configStatus, status.tlv)
    }

    // MARK: Positions

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        for kind in kinds where isPositionAware(kind) {
            let ids = Attributes(kind)
            if attribute == ids.current || attribute == ids.currentPercentage || attribute == ids.currentValue {
                return positions(kind).first { $0.0 == attribute }?.1
            }
        }
        return nil
    }

    /// The position as each attribute tells it.
    private func positions(_ kind: CoveringAxis.Kind) -> [(AttributeID, TLVValue)] {
        guard let axis = axis(kind) else { return [] }
        let (ids, position) = (Attributes(kind), axis.position(at: node.environment.now))
        return [
            (ids.current, .unsigned(UInt64(position))), (ids.currentPercentage, .unsigned(UInt64(position / 100))),
            (ids.currentValue, .unsigned(absolute(position, ids))),
        ]
    }

    private func limits(_ ids: Attributes) -> (open: UInt64, closed: UInt64) {
        (value(ids.openLimit).unsigned ?? 0, value(ids.closedLimit).unsigned ?? 65534)
    }

    /// Hundredths of a percent in the units of the installed limits, which may count either way.
    private func absolute(_ position: UInt16, _ ids: Attributes) -> UInt64 {
        let (open, closed) = limits(ids)
        let share = UInt64(position)
        return closed >= open ? open + (closed - open) * share / 10000 : open - (open - closed) * share / 10000
    }

    func relative(_ absolute: UInt16, _ ids: Attributes) -> UInt16 {
        let (open, closed) = limits(ids)
        guard open != closed else { return 0 }
        let value = min(max(UInt64(absolute), min(open, closed)), max(open, closed))
        let way = closed > open ? value - open : open - value
        return UInt16(clamping: way * 10000 / (closed > open ? closed - open : open - closed))
    }

    /// Makes position and target known as they are now.
    func publish(_ kind: CoveringAxis.Kind) {
        store(kind)
        guard isPositionAware(kind), let axis = axis(kind) else { return }
        set(Attributes(kind).target, .unsigned(UInt64(axis.target)))
    }

    private func store(_ kind: CoveringAxis.Kind) {
        guard let axis = axis(kind) else { return }
        if isPositionAware(kind) {
            for (attribute, value) in positions(kind) { set(attribute, value) }
        } else {
            keep(TLVValue.unsigned(UInt64(axis.position(at: node.environment.now))).encoded(), as: Attributes(kind).name)
        }
    }

    func publishStatus() {
        var status = Spec.OperationalStatusBitmap(rawValue: 0)
        status.lift = lift?.movement ?? 0
        status.tilt = tilt?.movement ?? 0
        status.global = status.lift != 0 ? status.lift : status.tilt
        set(Spec.Attributes.operationalStatus, status.tlv)
        if lift?.isMoving != true, tilt?.isMoving != true {
            cancel(tick)
            tick = nil
        } else if tick == nil {
            scheduleTick()
        }
    }

    /// The position of a moving covering is told once a second.
    private func scheduleTick() {
        tick = after(.seconds(1)) { [weak self] in
            guard let self else { return }
            scheduleTick()
            for kind in kinds where axis(kind)?.isMoving == true { store(kind) }
        }
    }

    // MARK: Motion

    func go(_ kind: CoveringAxis.Kind, to target: UInt16) {
        guard let before = axis(kind) else { return }
        cancel(before.motion?.timer)
        var duration: Duration?
        change(kind) { duration = $0.go(to: target, at: node.environment.now) }
        if let duration {
            if before.movement != axis(kind)?.movement { countActuation(kind) }
            let timer = after(duration) { [weak self] in self?.arrived(kind) }
            change(kind) { $0.motion?.timer = timer }
            if isPositionAware(kind) { set(Attributes(kind).target, .unsigned(UInt64(axis(kind)?.target ?? target))) }
        } else {
            settle(kind)
        }
        publishStatus()
    }

    private func countActuation(_ kind: CoveringAxis.Kind) {
        let attribute = Attributes(kind).actuations
        set(attribute, .unsigned(((value(attribute).unsigned ?? 0) + 1) & 0xFFFF))
    }

    private func arrived(_ kind: CoveringAxis.Kind) {
        settle(kind)
        publishStatus()
    }

    /// The motion is over, at its target or at what lies before it.
    private func settle(_ kind: CoveringAxis.Kind) {
        let isBlocked = axis(kind).map { $0.position(at: node.environment.now) != $0.target } ?? false
        halt(kind)
        if isBlocked { set(Spec.Attributes.safetyStatus, safety.union(.obstacleDetected).tlv) }
    }

    func halt(_ kind: CoveringAxis.Kind) {
        cancel(axis(kind)?.motion?.timer)
        change(kind) { $0.stop(at: node.environment.now) }
        publish(kind)
    }

    func haltAll() {
        for kind in kinds { halt(kind) }
        publishStatus()
    }

    /// Bits of SafetyStatus with which nothing moves.
    static let preventing: Spec.SafetyStatusBitmap = [
        .remoteLockout, .failedCommunication, .thermalProtection, .power, .stopInput, .motorJammed, .hardwareFailure, .protection,
    ]

    /// Whether commands may move the covering (Matter Application Clusters, 5.3.6.8 and 5.3.6.15).
    func checkMayMove() throws(Status) {
        if mode.contains(.maintenanceMode) { throw Status(.busy, "the covering is in maintenance mode") }
        if mode.contains(.calibrationMode) { throw Status(.failure, "the covering is in calibration mode") }
        if !safety.isDisjoint(with: Self.preventing) { throw Status(.failure, "SafetyStatus prevents motion") }
    }

    /// Something that the covering cannot pass, as a lift position in hundredths of a percent; it lies in the way of closing. Nil takes it
    /// away.
    public var obstacle: UInt16? {
        get { lift?.obstacle?.position }
        set {
            let place = newValue.map { CoveringAxis.Obstacle(position: min($0, CoveringAxis.closed), blocksClosing: true) }
            setObstacle(place)
            if newValue == nil { set(Spec.Attributes.safetyStatus, safety.subtracting(.obstacleDetected).tlv) }
        }
    }

    func setObstacle(_ obstacle: CoveringAxis.Obstacle?) {
        change(.lift) { $0.obstacle = obstacle }
        if let axis = lift, axis.isMoving { go(.lift, to: axis.target) }
    }

    // MARK: Commands and writes

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        try checkMayMove()
        switch command.id {
        case Spec.Commands.upOrOpen: for kind in kinds { go(kind, to: 0) }
        case Spec.Commands.downOrClose: for kind in kinds { go(kind, to: CoveringAxis.closed) }
        case Spec.Commands.stopMotion: haltAll()
        case Spec.Commands.goToLiftPercentage:
            try go(.lift, percent100ths: Spec.GoToLiftPercentage(tlv: fields).liftPercent100thsValue)
        case Spec.Commands.goToTiltPercentage:
            try go(.tilt, percent100ths: Spec.GoToTiltPercentage(tlv: fields).tiltPercent100thsValue)
        case Spec.Commands.goToLiftValue: try go(.lift, absolute: Spec.GoToLiftValue(tlv: fields).liftValue)
        case Spec.Commands.goToTiltValue: try go(.tilt, absolute: Spec.GoToTiltValue(tlv: fields).tiltValue)
        default: throw Status(.unsupportedCommand)
        }
        node.sceneableChanged(at: endpoint)
        return .success
    }

    private func go(_ kind: CoveringAxis.Kind, percent100ths: UInt16) throws(Status) {
        guard percent100ths <= CoveringAxis.closed else { throw Status(.constraintError, "more than 100 %") }
        // Without a position there are only the ends to go to (Matter Application Clusters, 5.3.7.5).
        go(kind, to: isPositionAware(kind) || percent100ths == 0 ? percent100ths : CoveringAxis.closed)
    }

    private func go(_ kind: CoveringAxis.Kind, absolute: UInt16) throws(Status) {
        let ids = Attributes(kind)
        let (open, closed) = limits(ids)
        guard UInt64(absolute) >= min(open, closed), UInt64(absolute) <= max(open, closed) else {
            throw Status(.constraintError, "outside the installed limits")
        }
        go(kind, to: relative(absolute, ids))
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        if attribute.id == Spec.Attributes.mode, (value.unsigned ?? 0) > 0x0F {
            throw Status(.constraintError, "Mode has bits that are not supported")
        }
        return value
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {
        if attribute.id == Spec.Attributes.mode { modeChanged() }
    }

    func modeChanged() {
        updateConfigStatus()
        if !mode.isDisjoint(with: [.calibrationMode, .maintenanceMode]) { haltAll() }
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        try setByHand(attribute, value)
    }
}
