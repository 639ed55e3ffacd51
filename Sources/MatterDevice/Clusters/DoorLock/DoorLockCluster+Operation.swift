import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// What is to be done with the bolt.
public enum LockOperation: Sendable {
    case lock
    /// Where there is a latch, it is pulled too.
    case unlock
    /// The bolt only.
    case unbolt

    var type: DoorLock.LockOperationTypeEnum { self == .lock ? .lock : .unlock }
}

/// Somebody who wants the bolt moved, and how.
struct LockAttempt {
    var operation: LockOperation
    var source: DoorLock.OperationSourceEnum
    var fabric: FabricIndex?
    var node: NodeID?
    var user: UInt16?
    var credentials: [DoorLock.CredentialStruct]?
    /// Seconds after which the lock locks itself; nil leaves it to AutoRelockTime.
    var timeout: UInt16?
}

// MARK: - Moving the bolt (Matter Application Clusters, 5.2.10.1 to 5.2.10.3 and 5.2.10.41)

extension DoorLockCluster {
    func operateRemotely(
        _ operation: LockOperation, pin: [UInt8]?, timeout: UInt16? = nil, _ context: InteractionContext
    ) throws(Status) {
        var attempt = LockAttempt(operation: operation, source: .remote, timeout: timeout)
        if context.fabricIndex != 0 { (attempt.fabric, attempt.node) = (context.fabricIndex, NodeID(context.peer.peerNodeID)) }
        // Nobody learns anything while the lock is locked out, not even by events.
        if isLockedOut { throw Status(.failure, "too many wrong codes") }
        if operatingMode == .noRemoteLockUnlock || operatingMode == .privacy {
            throw refuse(attempt, .restricted, "the operating mode")
        }
        if value(Ids.actuatorEnabled) == .boolean(false) { throw refuse(attempt, .unspecified, "the actuator is disabled") }
        if let pin, hasPINs {
            // A PIN is always checked, also when none is required.
            guard let key = credential(.pin, pin) else { throw wrongCode(attempt) }
            try authorize(key, &attempt)
        } else if has(Ids.requirePINforRemoteOperation), value(Ids.requirePINforRemoteOperation) == .boolean(true) {
            throw refuse(attempt, .invalidCredential, "a PIN is required")
        }
        try perform(attempt)
    }

    var isLockedOut: Bool { lockedOut.map { node.environment.now < $0 } ?? false }

    /// Whether the owner of a credential may pass; fills in who it is.
    private func authorize(_ key: Credential, _ attempt: inout LockAttempt) throws(Status) {
        guard let index = credentials[key]?.user, let user = users[index] else { throw wrongCode(attempt) }
        (attempt.user, attempt.credentials) = (index, [key])
        guard user.status == .occupiedEnabled else { throw refuse(attempt, .disabledUserDenied, "the user is disabled") }
        switch user.type {
        case .nonAccessUser:
            emitOperation(.nonAccessUserEvent, attempt)
            throw Status(.failure, "the user has no access")
        case .remoteOnlyUser where attempt.source != .remote: throw refuse(attempt, .restricted, "the user may not open it here")
        case .yearDayScheduleUser, .weekDayScheduleUser, .scheduleRestrictedUser:
            guard isWithinSchedule(index) else { throw refuse(attempt, .restricted, "it is not the user's time") }
        default: break
        }
        wrongCodes = 0
    }

    private func refuse(_ attempt: LockAttempt, _ error: Spec.OperationErrorEnum, _ reason: String) -> Status {
        let payload = Spec.LockOperationError(
            lockOperationType: attempt.operation.type, operationSource: attempt.source, operationError: error,
            userIndex: Nullable(attempt.user), fabricIndex: Nullable(attempt.fabric), sourceNode: Nullable(attempt.node),
            credentials: hasUsers ? Nullable(attempt.credentials) : nil)
        emit(Spec.Events.lockOperationError, payload.tlv)
        return Status(.failure, reason)
    }

    private func wrongCode(_ attempt: LockAttempt) -> Status {
        let status = refuse(attempt, .invalidCredential, "the code is wrong")
        wrongCodes += 1
        if wrongCodes >= max(1, limit(Ids.wrongCodeEntryLimit)) { lockOut() }
        return status
    }

    func lockOut() {
        wrongCodes = 0
        lockedOut = node.environment.now + .seconds(Int64(limit(Ids.userCodeTemporaryDisableTime)))
        alarm(.wrongCodeEntryLimit)
    }

    func emitOperation(_ type: Spec.LockOperationTypeEnum, _ attempt: LockAttempt) {
        let payload = Spec.LockOperation(
            lockOperationType: type, operationSource: attempt.source, userIndex: Nullable(attempt.user),
            fabricIndex: Nullable(attempt.fabric), sourceNode: Nullable(attempt.node),
            credentials: hasUsers ? Nullable(attempt.credentials) : nil)
        emit(Spec.Events.lockOperation, payload.tlv)
    }

    /// An alarm, unless AlarmMask holds it back.
    func alarm(_ code: Spec.AlarmCodeEnum) {
        if has(Ids.alarmMask), code.rawValue < 7, limit(Ids.alarmMask) >> UInt64(code.rawValue) & 1 == 0 { return }
        emit(Spec.Events.doorLockAlarm, Spec.DoorLockAlarm(alarmCode: code).tlv)
    }

    /// Moves the bolt for someone who may.
    func perform(_ attempt: LockAttempt) throws(Status) {
        // The alarm was raised when it jammed.
        guard !isJammed else { throw refuse(attempt, .unspecified, "the bolt is stuck") }
        cancel(relockTimer)
        cancel(latchTimer)
        (relockTimer, latchTimer) = (nil, nil)
        if attempt.operation == .lock {
            setLasting(Ids.lockState, Spec.LockStateEnum.locked.tlv)
        } else {
            scheduleRelock(after: attempt.timeout.map(UInt64.init) ?? limit(Ids.autoRelockTime))
            if attempt.operation == .unlock, hasFeature(Spec.Feature.unbolting.rawValue) { return pullLatch(attempt) }
            setLasting(Ids.lockState, Spec.LockStateEnum.unlocked.tlv)
        }
        emitOperation(attempt.operation.type, attempt)
        if let index = attempt.user { used(index, attempt) }
    }

    /// Retracts the bolt and pulls the latch for a moment; only then is the door unlocked (5.2.4.11, 5.2.11.3).
    private func pullLatch(_ attempt: LockAttempt) {
        set(Ids.lockState, Spec.LockStateEnum.unlatched.tlv)
        // Without power the latch springs back.
        keep(Spec.LockStateEnum.unlocked.tlv.encoded(), as: "setting/\(Ids.lockState)")
        emitOperation(.unlatch, attempt)
        latchTimer = after(latchTime) { [weak self] in
            guard let self else { return }
            latchTimer = nil
            setLasting(Ids.lockState, Spec.LockStateEnum.unlocked.tlv)
            emitOperation(.unlock, attempt)
            if let index = attempt.user { used(index, attempt) }
        }
    }

    func scheduleRelock(after seconds: UInt64) {
        cancel(relockTimer)
        relockTimer = nil
        guard seconds > 0, operatingMode != .passage else { return }
        relockTimer = after(.seconds(Int64(clamping: seconds))) { [weak self] in
            guard let self else { return }
            relockTimer = nil
            // A bolt that is stuck has told so itself.
            _ = try? perform(LockAttempt(operation: .lock, source: .auto))
        }
    }

    // MARK: Users who change by use (Matter Application Clusters, 5.2.6.18)

    private func used(_ index: UInt16, _ attempt: LockAttempt) {
        guard let user = users[index] else { return }
        switch user.type {
        case .forcedUser:
            emitOperation(.forcedUserEvent, attempt)
            alarm(.forcedUser)
        case .disposableUser where attempt.operation != .lock: disable(index)
        case .expiringUser where attempt.operation != .lock && user.expiry == nil:
            var user = user
            user.expiry = wallSeconds + limit(Ids.expiringUserTimeout) * 60
            users[index] = user
            scheduleExpiry(of: index)
        default: break
        }
    }

    func scheduleExpiry(of index: UInt16) {
        guard let expiry = users[index]?.expiry else { return }
        let left = Duration.seconds(Int64(clamping: expiry)) - node.environment.wall
        after(max(.zero, left)) { [weak self] in
            guard let self, users[index]?.expiry == expiry else { return }
            disable(index)
        }
    }

    private func disable(_ index: UInt16) {
        guard var user = users[index] else { return }
        (user.status, user.expiry) = (.occupiedDisabled, nil)
        users[index] = user
        emitUserChange(.userIndex, .modify, user: index, data: index, Author(source: .auto))
    }

    /// The device's clock in seconds since 1970.
    var wallSeconds: UInt64 { UInt64(clamping: node.environment.wall.components.seconds) }

    // MARK: At the lock itself

    /// Somebody types a PIN. Whether the lock obeyed.
    @discardableResult
    public func enter(_ operation: LockOperation, pin: String) -> Bool {
        let code = Array(pin.utf8)
        return operateLocally(operation, credential(.pin, code) ?? credential(.programmingPIN, code), .keypad)
    }

    /// Somebody holds a tag to the lock. Whether the lock obeyed.
    @discardableResult
    public func present(_ operation: LockOperation, rfid: [UInt8]) -> Bool {
        operateLocally(operation, credential(.rfid, rfid), .rfid)
    }

    func operateLocally(_ operation: LockOperation, _ key: Credential?, _ source: Spec.OperationSourceEnum) -> Bool {
        guard !isLockedOut else { return false }
        var attempt = LockAttempt(operation: operation, source: source)
        do throws(Status) {
            guard let key else { throw wrongCode(attempt) }
            let isShut = operatingMode == .privacy || (operatingMode == .vacation && key.credentialType != .programmingPIN)
            if isShut { throw refuse(attempt, .restricted, "the operating mode") }
            try authorize(key, &attempt)
            guard try isComplete(key, &attempt) else { return false }
            try perform(attempt)
            return true
        } catch {
            return false
        }
    }

    /// Users with more than one credential show them one after the other within half a minute. Only here: a command brings one PIN, and
    /// cannot be answered by half.
    private func isComplete(_ key: Credential, _ attempt: inout LockAttempt) throws(Status) -> Bool {
        guard let index = attempt.user, let rule = users[index]?.rule, rule != .single else { return true }
        let now = node.environment.now
        var soFar = shown.flatMap { $0.user == index && now < $0.until ? $0.credentials : nil } ?? []
        if !soFar.contains(key) { soFar.append(key) }
        attempt.credentials = soFar
        guard soFar.count > Int(rule.rawValue) else {
            shown = (index, soFar, now + .seconds(30))
            return false
        }
        shown = nil
        return true
    }
}
