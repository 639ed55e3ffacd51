import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV

/// Presets and schedules are written in one go or not at all: AtomicRequest (Matter Core, 7.15; 4.3.10.9).
extension ThermostatCluster {
    /// The write that is under way.
    struct AtomicWrite {
        let peer: SessionContext
        let attributes: Set<AttributeID>
        let expiry: Token
        /// What the peer has written so far.
        var pending: [AttributeID: TLVValue] = [:]

        func isOf(_ other: SessionContext) -> Bool {
            peer.authMode == other.authMode && peer.fabricIndex == other.fabricIndex && peer.peerNodeID == other.peerNodeID
        }
    }

    /// How long a write may take at most, in milliseconds.
    private static var longestAtomicWrite: UInt16 { 10_000 }

    func atomicRequest(
        _ request: Thermostat.AtomicRequest, _ context: InteractionContext
    ) throws(Status) -> Thermostat.AtomicResponse {
        let requested = request.attributeRequests
        guard !requested.isEmpty, Set(requested).count == requested.count else {
            throw Status(.invalidCommand, "the attributes of an atomic request are there once each")
        }
        for attribute in requested where !has(attribute) { throw Status(.invalidCommand, "\(attribute) does not exist") }
        switch request.requestType {
        case .beginWrite: return try beginAtomicWrite(requested, request.timeout, context)
        case .commitWrite:
            try checkOwnAtomicWrite(requested, context)
            return commitAtomicWrite(requested)
        case .rollbackWrite:
            try checkOwnAtomicWrite(requested, context)
            endAtomicWrite()
            return Self.answer(requested.map { ($0, .success) })
        default: throw Status(.invalidCommand)
        }
    }

    private func checkOwnAtomicWrite(_ requested: [AttributeID], _ context: InteractionContext) throws(Status) {
        guard let atomicWrite, atomicWrite.isOf(context.peer), atomicWrite.attributes == Set(requested) else {
            throw Status(.invalidInState, "there is no atomic write of these attributes by this peer")
        }
    }

    private func beginAtomicWrite(
        _ requested: [AttributeID], _ timeout: UInt16?, _ context: InteractionContext
    ) throws(Status) -> Thermostat.AtomicResponse {
        guard let timeout else { throw Status(.invalidCommand, "a timeout is missing") }
        if let atomicWrite, atomicWrite.isOf(context.peer) { throw Status(.invalidInState, "there is an atomic write already") }
        let statuses = requested.map { attribute -> (AttributeID, StatusCode) in
            guard attribute == Attributes.presets || attribute == Attributes.schedules else { return (attribute, .invalidCommand) }
            return (attribute, atomicWrite == nil ? .success : .busy)
        }
        guard statuses.allSatisfy({ $0.1 == .success }) else { return Self.answer(statuses) }
        let granted = min(timeout, Self.longestAtomicWrite)
        let expiry = after(.milliseconds(Int64(granted))) { [weak self] in self?.atomicWrite = nil }
        atomicWrite = AtomicWrite(peer: context.peer, attributes: Set(requested), expiry: expiry)
        return Self.answer(statuses, timeout: granted)
    }

    private func commitAtomicWrite(_ requested: [AttributeID]) -> Thermostat.AtomicResponse {
        let pending = atomicWrite?.pending ?? [:]
        endAtomicWrite()
        let statuses = requested.map { attribute -> (AttributeID, StatusCode) in
            guard let value = pending[attribute] else { return (attribute, .success) }
            do throws(Status) {
                if attribute == Attributes.presets {
                    try checkPresetsForCommit(value, schedules: pending[Attributes.schedules])
                } else {
                    try checkSchedulesForCommit(value, presets: pending[Attributes.presets])
                }
                return (attribute, .success)
            } catch { return (attribute, error.code) }
        }
        let response = Self.answer(statuses)
        guard response.statusCode == .success else { return response }
        if let presets = pending[Attributes.presets] { set(Attributes.presets, withHandles(presets, of: Attributes.presets)) }
        if let schedules = pending[Attributes.schedules] {
            set(Attributes.schedules, withHandles(schedules, of: Attributes.schedules))
            resumeSchedule()
        }
        return response
    }

    func endAtomicWrite() {
        cancel(atomicWrite?.expiry)
        atomicWrite = nil
    }

    private static func answer(_ statuses: [(AttributeID, StatusCode)], timeout: UInt16? = nil) -> Thermostat.AtomicResponse {
        Thermostat.AtomicResponse(
            statusCode: statuses.allSatisfy { $0.1 == .success } ? .success : .failure,
            attributeStatus: statuses.map { .init(attributeID: $0.0, statusCode: $0.1) }, timeout: timeout)
    }

    // MARK: Writes

    /// A write of presets or schedules: kept aside until the commit. What is stored stays.
    func acceptAtomically(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue {
        guard let atomicWrite, atomicWrite.attributes.contains(attribute.id) else {
            throw Status(.invalidInState, "\(attribute.name) is written in an atomic write only")
        }
        guard atomicWrite.isOf(context.peer) else { throw Status(.busy, "another peer's atomic write is under way") }
        try checkEntries(attribute, value)
        self.atomicWrite?.pending[attribute.id] = value
        return self.value(attribute.id)
    }

    /// Presets or schedules set at the device.
    func replaceLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let checker = ValueChecker(cluster: definition, features: features)
        for entry in value.array ?? [] { try checker.check(entry: entry, of: attribute) }
        set(attribute.id, withHandles(value, of: attribute.id))
        if attribute.id == Attributes.schedules { resumeSchedule() }
    }

    private func checkEntries(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        let entries = value.array ?? []
        let most = attribute.id == Attributes.presets ? Attributes.numberOfPresets : Attributes.numberOfSchedules
        guard entries.count <= self.value(most).unsigned ?? 0 else {
            throw Status(.resourceExhausted, "there are too many entries in \(attribute.name)")
        }
        // How many transitions a schedule may have is not a matter of constraints either.
        var options = valueChecks
        options.checksConstraints = attribute.id == Attributes.presets
        let checker = ValueChecker(cluster: definition, features: features, options: options)
        for entry in entries { try checker.check(entry: entry, of: attribute) }
        if attribute.id == Attributes.presets {
            try checkPresets(try [Thermostat.PresetStruct](tlv: value))
        } else {
            try checkSchedules(try [Thermostat.ScheduleStruct](tlv: value))
        }
    }

    /// Rules that presets and schedules share: handles are known and there once, and what is built in stays so.
    func checkHandles(_ entries: [(handle: [UInt8]?, builtIn: Bool?)], existing: [(handle: [UInt8]?, builtIn: Bool?)]) throws(Status) {
        var seen: Set<[UInt8]> = []
        for entry in entries {
            guard let handle = entry.handle else {
                if entry.builtIn == true { throw Status(.constraintError, "what is new is not built in") }
                continue
            }
            guard let old = existing.first(where: { $0.handle == handle }) else { throw Status(.notFound, "a handle is not known") }
            guard seen.insert(handle).inserted else { throw Status(.constraintError, "a handle stands twice") }
            if let builtIn = entry.builtIn, builtIn != (old.builtIn ?? false) {
                throw Status(.constraintError, "what is built in cannot be changed")
            }
        }
    }

    /// What is built in is still there.
    func checkBuiltIn(_ entries: [[UInt8]?], existing: [(handle: [UInt8]?, builtIn: Bool?)]) throws(Status) {
        for old in existing where old.builtIn == true && !entries.contains(old.handle) {
            throw Status(.constraintError, "what is built in cannot be removed")
        }
    }

    /// Gives a handle to each entry that has none, and BuiltIn a value.
    func withHandles(_ value: TLVValue, of attribute: AttributeID) -> TLVValue {
        let builtIn = Dictionary(
            (self.value(attribute).array ?? []).compactMap { entry in entry[0]?.octets.map { ($0, entry[5] ?? .boolean(false)) } },
            uniquingKeysWith: { first, _ in first })
        return .array(
            (value.array ?? []).map { entry in
                guard case .structure(var members) = entry else { return entry }
                for (index, member) in members.enumerated() {
                    if member.tag == .context(0), member.value.isNull { members[index].value = .octets(newHandle()) }
                    if member.tag == .context(5), member.value.isNull {
                        members[index].value = entry[0]?.octets.flatMap { builtIn[$0] } ?? .boolean(false)
                    }
                }
                return .structure(members)
            })
    }

    /// Four bytes that were never a handle of this device before.
    private func newHandle() -> [UInt8] {
        let last = kept("last-handle").flatMap { try? TLVValue(decoding: $0) }?.unsigned ?? 0x100
        keep(TLVValue.unsigned(last &+ 1).encoded(), as: "last-handle")
        let number = UInt32(truncatingIfNeeded: last &+ 1)
        return [UInt8(number >> 24), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
    }
}
