import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Door Lock (Matter Application Clusters, 5.2): the bolt, whoever may move it, and what is remembered of them.
///
/// Parameter of the profile: `users`, whom the lock knows when it is new: an array of structures with the members 0 `name` (text), 1 `pins`
/// (array of texts), 2 `rfids` (array of octets), 3 `type` (UserTypeEnum, default 0) and 4 `rule` (CredentialRuleEnum, default 0). They
/// belong to no fabric. PINs and RFIDs take the lowest free index each. `readOnly`: names of attributes that nobody may write, of those
/// whose write access is optional (an array of texts). `latchTime`: how long a lock with the Unbolting feature pulls the latch when it is
/// unlocked, and LockState is Unlatched (1 s).
///
/// By hand (`setLocally`): LockState is a hand on the thumb turn (source Manual), or an unlatched or not fully locked bolt; DoorState is the
/// door; ActuatorEnabled, OperatingMode and the like are settings. An event raised by a tester (`triggerLocally`): DoorLockAlarm LockJammed
/// jams the bolt until someone turns it by hand; DoorStateChange moves the door; LockOperation with the source Keypad or RFID, and with the
/// user's credentials in it, operates the lock as that user would. `enter(_:pin:)` and `present(_:rfid:)` do the same with a code.
///
/// Local times of schedules are taken as UTC, since the device has no time zone.
public final class DoorLockCluster: Cluster {
    typealias Spec = DoorLock
    typealias Ids = DoorLock.Attributes
    typealias Credential = DoorLock.CredentialStruct

    var users: LockTable<UInt16, LockUser>
    var credentials: LockTable<Credential, LockCredential>
    var weekDays: LockTable<ScheduleKey, WeekDaySchedule>
    var yearDays: LockTable<ScheduleKey, YearDaySchedule>
    var holidays: LockTable<UInt8, HolidaySchedule>

    /// Wrong codes in a row.
    var wrongCodes = 0
    /// Until when every code is refused.
    var lockedOut: ModelInstant?
    var relockTimer: Token?
    var holidayTimer: Token?
    /// Until the latch is let go, and until OpenPeriod counts the next minute.
    var latchTimer: Token?
    var openTimer: Token?
    /// How long the latch is pulled.
    let latchTime: Duration
    /// What a user with more than one credential has shown so far at the lock.
    var shown: (user: UInt16, credentials: [Credential], until: ModelInstant)?
    /// The bolt is stuck: it moves neither way until it is turned by hand.
    public internal(set) var isJammed = false

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        let configuration = Self.complete(configuration)
        latchTime = .milliseconds(Int64(min(configuration.parameters["latchTime"]?.unsigned ?? 1000, 60_000)))
        let prefix = "cluster/\(endpoint)/\(Spec.id)/"
        let store = node.environment.store
        func names(_ kind: String) -> [String] {
            store.keys(withPrefix: prefix + kind + "/").map { String($0.dropFirst(prefix.count)) }
        }
        func load(_ name: String) -> [UInt8]? { store.value(for: prefix + name) }
        func keep(_ bytes: [UInt8]?, _ name: String) {
            if let bytes { store.put(bytes, for: prefix + name) } else { store.remove(prefix + name) }
        }
        users = LockTable(
            names: names("user"), path: { "user/\($0)" }, key: { $0.first.flatMap { UInt16(exactly: $0) } }, load: load,
            keep: keep)
        credentials = LockTable(
            names: names("credential"), path: { "credential/\($0.credentialType.rawValue)/\($0.credentialIndex)" },
            key: { numbers in
                guard numbers.count == 2, let type = UInt8(exactly: numbers[0]), let index = UInt16(exactly: numbers[1]) else {
                    return nil
                }
                return Credential(credentialType: Spec.CredentialTypeEnum(rawValue: type), credentialIndex: index)
            }, load: load, keep: keep)
        func scheduleKey(_ numbers: [UInt64]) -> ScheduleKey? {
            guard numbers.count == 2, let user = UInt16(exactly: numbers[0]), let index = UInt8(exactly: numbers[1]) else {
                return nil
            }
            return ScheduleKey(user: user, index: index)
        }
        weekDays = LockTable(
            names: names("week"), path: { "week/\($0.user)/\($0.index)" }, key: scheduleKey, load: load, keep: keep)
        yearDays = LockTable(
            names: names("year"), path: { "year/\($0.user)/\($0.index)" }, key: scheduleKey, load: load, keep: keep)
        holidays = LockTable(
            names: names("holiday"), path: { "holiday/\($0)" }, key: { $0.first.flatMap { UInt8(exactly: $0) } }, load: load,
            keep: keep)
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: (
                [Ids.autoRelockTime, Ids.doorOpenEvents, Ids.doorClosedEvents, Ids.openPeriod, Ids.expiringUserTimeout],
                [Spec.Commands.unlockWithTimeout]
            ))
        if kept("furnished") == nil { addProfileUsers() }
    }

    /// What the profile leaves open.
    private static func complete(_ given: ClusterConfiguration) -> ClusterConfiguration {
        var configuration = given
        let features = Spec.Feature(rawValue: given.features)
        var usual: [AttributeID: TLVValue] = [
            Ids.lockState: Spec.LockStateEnum.locked.tlv, Ids.actuatorEnabled: .boolean(true),
            Ids.autoRelockTime: .unsigned(0),
        ]
        if features.contains(.doorPositionSensor) { usual[Ids.doorState] = Spec.DoorStateEnum.doorClosed.tlv }
        if features.contains(.pinCredential) {
            usual[Ids.numberOfPINUsersSupported] = .unsigned(10)
            (usual[Ids.minPINCodeLength], usual[Ids.maxPINCodeLength]) = (.unsigned(4), .unsigned(8))
        }
        if features.contains(.rfidCredential) {
            usual[Ids.numberOfRFIDUsersSupported] = .unsigned(10)
            (usual[Ids.minRFIDCodeLength], usual[Ids.maxRFIDCodeLength]) = (.unsigned(4), .unsigned(20))
        }
        if !features.isDisjoint(with: [.pinCredential, .rfidCredential]) {
            (usual[Ids.wrongCodeEntryLimit], usual[Ids.userCodeTemporaryDisableTime]) = (.unsigned(5), .unsigned(10))
        }
        if features.contains(.user) {
            usual[Ids.numberOfTotalUsersSupported] = .unsigned(10)
            usual[Ids.numberOfCredentialsSupportedPerUser] = .unsigned(5)
            usual[Ids.expiringUserTimeout] = .unsigned(1440)
        }
        if features.contains(.aliroProvisioning) {
            usual[Ids.aliroReaderGroupSubIdentifier] = .octets([UInt8](repeating: 0, count: 16))
            usual[Ids.aliroExpeditedTransactionSupportedProtocolVersions] = .array([.octets([1, 0])])
            usual[Ids.numberOfAliroCredentialIssuerKeysSupported] = .unsigned(10)
            usual[Ids.numberOfAliroEndpointKeysSupported] = .unsigned(10)
        }
        if features.contains(.weekDayAccessSchedules) { usual[Ids.numberOfWeekDaySchedulesSupportedPerUser] = .unsigned(10) }
        if features.contains(.yearDayAccessSchedules) { usual[Ids.numberOfYearDaySchedulesSupportedPerUser] = .unsigned(10) }
        if features.contains(.holidaySchedules) { usual[Ids.numberOfHolidaySchedulesSupported] = .unsigned(10) }
        for (attribute, value) in usual where configuration.attributes[attribute] == nil {
            configuration.attributes[attribute] = value
        }
        return configuration
    }

    private func addProfileUsers() {
        keep(TLVValue.boolean(true).encoded(), as: "furnished")
        for (place, entry) in (configuration.parameters["users"]?.array ?? []).enumerated() {
            guard let index = UInt16(exactly: place + 1), index <= limit(Ids.numberOfTotalUsersSupported) || !hasUsers else {
                return
            }
            var user = LockUser(name: String(decoding: (entry[0]?.text ?? "").utf8.prefix(10), as: UTF8.self))
            if let type = entry[3]?.unsigned { user.type = Spec.UserTypeEnum(rawValue: UInt8(clamping: type)) }
            if let rule = entry[4]?.unsigned { user.rule = Spec.CredentialRuleEnum(rawValue: UInt8(clamping: rule)) }
            users[index] = user
            let codes =
                (entry[1]?.array ?? []).compactMap { $0.text }.map { (Spec.CredentialTypeEnum.pin, Array($0.utf8)) }
                + (entry[2]?.array ?? []).compactMap { value -> (Spec.CredentialTypeEnum, [UInt8])? in
                    if case .octets(let bytes) = value { return (.rfid, bytes) }
                    return nil
                }
            for (type, data) in codes {
                guard let slot = nextFree(type, after: 0) else { continue }
                attach(Credential(credentialType: type, credentialIndex: slot), data, to: index, by: nil)
            }
        }
    }

    /// Attributes whose optional write access this lock does not have.
    private lazy var readOnly = Set((configuration.parameters["readOnly"]?.array ?? []).compactMap(\.text))

    func limit(_ attribute: AttributeID) -> UInt64 { value(attribute).unsigned ?? 0 }
    var hasUsers: Bool { hasFeature(Spec.Feature.user.rawValue) }
    var hasPINs: Bool { hasFeature(Spec.Feature.pinCredential.rawValue) }
    var lockState: Spec.LockStateEnum? { value(Ids.lockState).unsigned.map { Spec.LockStateEnum(rawValue: UInt8(clamping: $0)) } }
    var operatingMode: Spec.OperatingModeEnum { Spec.OperatingModeEnum(rawValue: UInt8(clamping: limit(Ids.operatingMode))) }

    public override func ownConfigurationProblems(_ given: Set<AttributeID>) -> [ConfigurationProblem] { userProblems(given) }

    // MARK: Running

    /// Attributes of the bolt and settings that a lock does not forget with the power, although the data model leaves it open.
    private static let lasting: [AttributeID] = [
        Ids.lockState, Ids.doorState, Ids.doorOpenEvents, Ids.doorClosedEvents, Ids.openPeriod, Ids.language, Ids.ledSettings,
        Ids.autoRelockTime, Ids.soundVolume, Ids.operatingMode, Ids.enableLocalProgramming, Ids.enableOneTouchLocking,
        Ids.enableInsideStatusLED, Ids.enablePrivacyModeButton, Ids.localProgrammingFeatures, Ids.wrongCodeEntryLimit,
        Ids.userCodeTemporaryDisableTime, Ids.sendPINOverTheAir, Ids.requirePINforRemoteOperation, Ids.expiringUserTimeout,
        Ids.alarmMask,
        Ids.actuatorEnabled, Ids.aliroReaderVerificationKey, Ids.aliroReaderGroupIdentifier, Ids.aliroGroupResolvingKey,
    ]

    public override func start() {
        for attribute in Self.lasting {
            if let bytes = kept("setting/\(attribute)"), let value = try? TLVValue(decoding: bytes) { set(attribute, value) }
        }
        (wrongCodes, lockedOut, shown, isJammed) = (0, nil, nil, false)
        (relockTimer, holidayTimer, latchTimer, openTimer) = (nil, nil, nil, nil)
        if lockState == .unlocked || lockState == .unlatched { scheduleRelock(after: limit(Ids.autoRelockTime)) }
        for (index, user) in users.entries where user.expiry != nil { scheduleExpiry(of: index) }
        updateHoliday()
        countOpenMinutes()
    }

    /// Sets an attribute that outlives the power.
    func setLasting(_ attribute: AttributeID, _ value: TLVValue) {
        guard has(attribute), self.value(attribute) != value else { return }
        set(attribute, value)
        keep(value.encoded(), as: "setting/\(attribute)")
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        if attribute.writeIsOptional, readOnly.contains(attribute.name) { throw Status(.unsupportedWrite) }
        if attribute.id == Ids.operatingMode, !supports(Spec.OperatingModeEnum(rawValue: UInt8(clamping: value.unsigned ?? 0))) {
            throw Status(.constraintError, "the operating mode is not supported")
        }
        return value
    }

    /// A set bit means that the mode is not supported (Matter Application Clusters, 5.2.9.25).
    func supports(_ mode: Spec.OperatingModeEnum) -> Bool {
        mode.rawValue < 16 && limit(Ids.supportedOperatingModes) >> UInt64(mode.rawValue) & 1 == 0
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {
        keep(new.encoded(), as: "setting/\(attribute.id)")
        if attribute.id == Ids.autoRelockTime, lockState == .unlocked { scheduleRelock(after: limit(Ids.autoRelockTime)) }
        // Whoever sets the mode by hand in a holiday does not want the old one back.
        if attribute.id == Ids.operatingMode { keep(nil, as: "mode-before-holiday") }
    }

    /// Stands for a fabric that is gone, where null would mean that none ever made the entry (5.2.10.34.8, 5.2.10.39.3).
    private static let removedFabric: FabricIndex = 0

    public override func fabricRemoved(_ fabric: FabricIndex) {
        for (index, user) in users.entries where user.creator == fabric || user.modifier == fabric {
            var user = user
            if user.creator == fabric { user.creator = Self.removedFabric }
            if user.modifier == fabric { user.modifier = Self.removedFabric }
            users[index] = user
        }
        for (key, credential) in credentials.entries where credential.creator == fabric || credential.modifier == fabric {
            var credential = credential
            if credential.creator == fabric { credential.creator = Self.removedFabric }
            if credential.modifier == fabric { credential.modifier = Self.removedFabric }
            credentials[key] = credential
        }
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        try setByHand(attribute, value)
    }

    public override func triggerLocally(_ event: EventDefinition, _ fields: TLVValue) throws(Status) -> EventNumber {
        try trigger(event, fields)
    }

    // MARK: Commands

    /// What is out of bounds is INVALID_COMMAND here, or told in the response, so the commands check for themselves.
    public override func checksFields(of command: CommandDefinition) -> Bool { false }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        do throws(Status) {
            return try run(command, fields, context)
        } catch {
            // A number that does not fit its type is out of bounds as well.
            throw error.code == .constraintError ? Status(.invalidCommand, error.reason) : error
        }
    }

    private func run(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        typealias Commands = Spec.Commands
        switch command.id {
        case Commands.lockDoor: try operateRemotely(.lock, pin: Spec.LockDoor(tlv: fields).pinCode, context)
        case Commands.unlockDoor: try operateRemotely(.unlock, pin: Spec.UnlockDoor(tlv: fields).pinCode, context)
        case Commands.unboltDoor: try operateRemotely(.unbolt, pin: Spec.UnboltDoor(tlv: fields).pinCode, context)
        case Commands.unlockWithTimeout:
            let request = try Spec.UnlockWithTimeout(tlv: fields)
            try operateRemotely(.unlock, pin: request.pinCode, timeout: request.timeout, context)
        case Commands.setUser: try setUser(Spec.SetUser(tlv: fields), try author(context))
        case Commands.getUser: return .reply(try getUser(Spec.GetUser(tlv: fields).userIndex))
        case Commands.clearUser: try clearUser(Spec.ClearUser(tlv: fields).userIndex, try author(context))
        case Commands.setCredential: return .reply(setCredential(try Spec.SetCredential(tlv: fields), try author(context)))
        case Commands.getCredentialStatus: return .reply(credentialStatus(try Spec.GetCredentialStatus(tlv: fields).credential))
        case Commands.clearCredential:
            try clearCredential(Spec.ClearCredential(tlv: fields).credential.value, try author(context))
        default:
            if let outcome = try runScheduleCommand(command.id, fields, context) { return outcome }
            if let outcome = try runSlotCommand(command.id, fields, context) { return outcome }
            if let outcome = try runAliroCommand(command.id, fields) { return outcome }
            throw Status(.unsupportedCommand)
        }
        return .success
    }

    /// Who changes the tables, and from where.
    struct Author {
        var fabric: FabricIndex?
        var node: NodeID?
        var source = DoorLock.OperationSourceEnum.remote
    }

    func author(_ context: InteractionContext) throws(Status) -> Author {
        guard context.fabricIndex != 0 else { throw Status(.failure, "only a fabric's nodes may do this") }
        return Author(fabric: context.fabricIndex, node: NodeID(context.peer.peerNodeID))
    }

    func emitUserChange(
        _ type: Spec.LockDataTypeEnum, _ operation: Spec.DataOperationTypeEnum, user: UInt16?, data: UInt16?, _ author: Author
    ) {
        guard elements.events[Spec.Events.lockUserChange] != nil else { return }
        emit(
            Spec.Events.lockUserChange,
            Spec.LockUserChange(
                lockDataType: type, dataOperationType: operation, operationSource: author.source, userIndex: Nullable(user),
                fabricIndex: Nullable(author.fabric), sourceNode: Nullable(author.node), dataIndex: Nullable(data)
            ).tlv)
    }
}
