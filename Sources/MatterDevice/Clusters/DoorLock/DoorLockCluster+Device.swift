import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

// MARK: - Hands on the door, and testers

extension DoorLockCluster {
    func setByHand(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        switch attribute.id {
        case Ids.lockState: try turn(try Nullable<Spec.LockStateEnum>(tlv: value).value)
        case Ids.doorState: try move(doorTo: try Nullable<Spec.DoorStateEnum>(tlv: value).value)
        default:
            guard attribute.writePrivilege != nil || attribute.id == Ids.actuatorEnabled else { return set(attribute.id, value) }
            setLasting(attribute.id, value)
            if attribute.id == Ids.autoRelockTime, lockState == .unlocked { scheduleRelock(after: limit(Ids.autoRelockTime)) }
        }
    }

    /// The thumb turn. It also frees a bolt that is stuck.
    private func turn(_ state: Spec.LockStateEnum?) throws(Status) {
        cancel(latchTimer)
        latchTimer = nil
        guard let state else { return setLasting(Ids.lockState, .null) }
        switch state {
        case .locked, .unlocked:
            isJammed = false
            try perform(LockAttempt(operation: state == .locked ? .lock : .unbolt, source: .manual))
        case .unlatched:
            guard hasFeature(Spec.Feature.unbolting.rawValue) else { throw Status(.constraintError, "there is no latch") }
            isJammed = false
            setLasting(Ids.lockState, state.tlv)
            emitOperation(.unlatch, LockAttempt(operation: .unlock, source: .manual))
        case .notFullyLocked: setLasting(Ids.lockState, state.tlv)
        default: throw Status(.constraintError, "LockState \(state)")
        }
    }

    private func move(doorTo state: Spec.DoorStateEnum?) throws(Status) {
        guard let state else { return setLasting(Ids.doorState, .null) }
        guard state.isDefined else { throw Status(.constraintError, "DoorState \(state)") }
        guard value(Ids.doorState) != state.tlv else { return }
        setLasting(Ids.doorState, state.tlv)
        switch state {
        case .doorOpen:
            count(Ids.doorOpenEvents)
            // A door that was ajar has been open since then.
            if opened == nil { keep(TLVValue.unsigned(wallSeconds).encoded(), as: "opened") }
            countOpenMinutes()
        case .doorClosed:
            count(Ids.doorClosedEvents)
            countOpenMinutes()
            cancel(openTimer)
            openTimer = nil
            keep(nil, as: "opened")
        default: break
        }
        emit(Spec.Events.doorStateChange, Spec.DoorStateChange(doorState: state).tlv)
        if state == .doorForcedOpen { alarm(.doorForcedOpen) }
        if state == .doorAjar { alarm(.doorAjar) }
    }

    /// When the door was opened, in seconds since 1970; nil while it is closed.
    private var opened: UInt64? { kept("opened").flatMap { try? TLVValue(decoding: $0).unsigned } }

    /// OpenPeriod is the whole minutes since the door was opened; it counts on while the door is open, and stays when it is closed (5.2.9.7).
    func countOpenMinutes() {
        cancel(openTimer)
        openTimer = nil
        guard has(Ids.openPeriod), let opened, opened <= wallSeconds else { return }
        let minutes = (wallSeconds - opened) / 60
        setLasting(Ids.openPeriod, UInt16(clamping: minutes).tlv)
        guard minutes < UInt16.max else { return }
        let left = Duration.seconds(Int64(clamping: opened + (minutes + 1) * 60)) - node.environment.wall
        openTimer = after(max(.zero, left)) { [weak self] in self?.countOpenMinutes() }
    }

    private func count(_ attribute: AttributeID) { setLasting(attribute, .unsigned((limit(attribute) + 1) & 0xFFFF_FFFF)) }

    /// The bolt gets stuck where it is.
    public func jam() {
        isJammed = true
        cancel(relockTimer)
        cancel(latchTimer)
        (relockTimer, latchTimer) = (nil, nil)
        setLasting(Ids.lockState, Spec.LockStateEnum.notFullyLocked.tlv)
        alarm(.lockJammed)
    }

    /// The bolt is free again, and stays where it is.
    public func free() { isJammed = false }

    func trigger(_ event: EventDefinition, _ fields: TLVValue) throws(Status) -> EventNumber {
        switch event.id {
        case Spec.Events.doorLockAlarm:
            switch try Spec.DoorLockAlarm(tlv: fields).alarmCode {
            case .lockJammed: jam()
            case .wrongCodeEntryLimit: lockOut()
            case .doorForcedOpen where has(Ids.doorState): try move(doorTo: .doorForcedOpen)
            case .doorAjar where has(Ids.doorState): try move(doorTo: .doorAjar)
            default: return emit(event.id, fields)
            }
        case Spec.Events.doorStateChange: try move(doorTo: try Spec.DoorStateChange(tlv: fields).doorState)
        case Spec.Events.lockOperation: try operate(as: Spec.LockOperation(tlv: fields))
        default: return emit(event.id, fields)
        }
        return EventNumber(node.events.nextNumber.rawValue &- 1)
    }

    private func operate(as wanted: Spec.LockOperation) throws(Status) {
        let operation: LockOperation =
            switch wanted.lockOperationType {
            case .lock: .lock
            case .unlock: wanted.operationSource == .manual ? .unbolt : .unlock
            case .unlatch: .unlock
            default: throw Status(.constraintError, "only locking and unlocking can be done")
            }
        if let key = wanted.credentials?.value?.first {
            let known = credentials[key] == nil ? nil : key
            guard operateLocally(operation, known, wanted.operationSource) else {
                throw Status(.failure, "the lock did not obey")
            }
        } else {
            try perform(LockAttempt(operation: operation, source: wanted.operationSource, user: wanted.userIndex.value))
        }
    }
}
