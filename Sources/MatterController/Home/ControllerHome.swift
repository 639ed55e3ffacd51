import HearthStore
import HearthTime
import MatterCredentials
import MatterModel
import MatterTLV
import MatterTransport

/// The controller's part of a home: its fabric, its own identity, its devices. One SQLite file, shared by every process that works on
/// the same home; each change is one short transaction.
public final class ControllerHome {
    /// Marks the file as a Hearth controller's (`application_id`): "HthC".
    static let applicationID: Int32 = 0x4874_6843
    static let migrations = [
        KeyValueTable.migration("entries"), SequenceTable.migration("sequences"),
        Migration.checksums("checksums", tables: ["entries", "sequences"]),
    ]

    /// The authority that issues the home's certificates.
    public let authority: FabricAuthority
    /// The controller as a member of its own fabric.
    public let identity: OperationalIdentity
    /// The key that group keys derive from (Matter Core, 4.17.4); given to every device.
    let identityProtectionKey: [UInt8]
    /// Set when a damaged file was replaced: tell the user once.
    public let recovery: RecoveryReport?

    /// A time in seconds since 1970 that has passed, by this machine's clock: when the last certificate of the home was made. A machine without a
    /// battery starts in 1970, and would take every certificate for one that is not valid yet (Matter Core, 3.5.6.1).
    private(set) var lastKnownGoodTime: Int64

    private let certificate: MatterCertificate
    private let key: PrivateKey
    private let database: Database
    private let table: KeyValueTable
    private let sequences: SequenceTable

    /// Opens the home in `folder`, or makes it. - Throws: `StoreError`, `CredentialsError`.
    public convenience init(folder: String, wall: Duration) throws {
        let database = try Database(
            path: folder + "/controller.sqlite", applicationID: Self.applicationID, migrations: Self.migrations,
            options: StoreOptions(access: .shared, afterRepair: Self.skipNodeIDs))
        try self.init(database, wall: wall)
    }

    /// A backup knows fewer node ids than were given out.
    @Sendable private static func skipNodeIDs(in database: Database) throws {
        let sequences = SequenceTable(database)
        try sequences.skip("node", to: sequences.reserve("node", startingAt: 2).lowerBound.addingReportingOverflow(1_000).partialValue)
    }

    /// A home that is gone with the process.
    public convenience init(inMemoryAt wall: Duration) throws {
        try self.init(Database.inMemory(applicationID: Self.applicationID, migrations: Self.migrations), wall: wall)
    }

    /// A home that is gone with the process, with the identity and the devices of another.
    public convenience init(snapshot: ControllerSnapshot, wall: Duration) throws {
        let database = try Database.inMemory(applicationID: Self.applicationID, migrations: Self.migrations)
        try KeyValueTable(database).commit(snapshot.batch)
        // No device gets a node id that one had before.
        try SequenceTable(database).skip("node", to: Int64(clamping: snapshot.nextNodeID))
        try self.init(database, wall: wall)
    }

    private init(_ database: Database, wall: Duration) throws {
        self.database = database
        recovery = database.recovery
        let table = try KeyValueTable(database)
        let sequences = SequenceTable(database)
        let now = MatterTime(unix: wall.components.seconds) ?? MatterTime(seconds: 1)
        // In one transaction, so that two processes that start together make one fabric; reading needs none, nor space on the disk.
        let stored =
            try table.value("identity", "controller")
            ?? database.transaction { () -> [UInt8] in
                if let bytes = try table.value("identity", "controller") { return bytes }
                let bytes = try Self.makeIdentity(now: now)
                var batch = WriteBatch()
                batch.put("identity", "controller", bytes)
                batch.put("identity", Self.timeKey, TLVValue.signed(now.unix).encoded())
                try table.commit(batch)
                // 1 is the controller's own node id.
                try sequences.skip("node", to: 2)
                return bytes
            }
        (self.table, self.sequences) = (table, sequences)
        let known = try table.value("identity", Self.timeKey).flatMap { try? TLVValue(decoding: $0).signed }
        do {
            let stored = try StoredIdentity(stored)
            (authority, identityProtectionKey, certificate) = (stored.authority, stored.identityProtectionKey, stored.certificate)
            (key, identity) = (stored.key, stored.identity)
        } catch {
            // Damage from before the store had checksums.
            throw ControllerError(
                .store,
                "the home's identity in \(database.path ?? "memory") cannot be used (\(error)): restore the folder from a copy, or name "
                    + "another one for a new home")
        }
        lastKnownGoodTime = max(certificate.notBefore.unix, known ?? 0)
    }

    private struct StoredIdentity {
        let authority: FabricAuthority
        let identityProtectionKey: [UInt8]
        let certificate: MatterCertificate
        let key: PrivateKey
        let identity: OperationalIdentity

        init(_ bytes: [UInt8]) throws {
            let value = try TLVValue(decoding: bytes)
            guard let authorityBytes = value[0]?.octets, let scalar = value[1]?.octets, let certificateBytes = value[2]?.octets,
                let protectionKey = value[3]?.octets
            else { throw ControllerError(.store, "a part of it is missing") }
            authority = try FabricAuthority(serialized: authorityBytes)
            identityProtectionKey = protectionKey
            certificate = try MatterCertificate(tlv: certificateBytes)
            key = try PrivateKey(scalar: scalar)
            identity = try OperationalIdentity(
                certificate: certificate, intermediate: authority.intermediate, root: authority.root, key: key, fabricIndex: 1,
                generation: 1)
        }
    }

    /// The controller's credentials in PEM, for other programs. Never log them.
    func export(_ identity: Controller.Identity) -> Controller.ExportedCredentials {
        Controller.ExportedCredentials(
            certificate: certificate.pem, privateKey: key.pem, intermediate: authority.intermediate?.pem, root: authority.root.pem,
            identity: identity)
    }

    /// Its certificates are valid from Matter's epoch on: a home that was made under a wrong clock would be of no use under the right one, and
    /// a device whose clock is behind would refuse it.
    private static func makeIdentity(now: MatterTime) throws -> [UInt8] {
        let fabricID = Crypto.random(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } | 1
        let authority = try FabricAuthority(fabricID: FabricID(fabricID), notBefore: .epochStart)
        let key = try PrivateKey.generate()
        let certificate = try authority.issueNode(1, publicKey: key.publicKey, now: now)
        return TLVValue.structure([
            TLVElement(0, .octets(try authority.serialized)), TLVElement(1, .octets(try key.scalar)),
            TLVElement(2, .octets(certificate.tlv)), TLVElement(3, .octets(GroupKey.randomEpochKey())),
        ]).encoded()
    }

    /// Ends the use of the file.
    public func close() { database.close() }

    /// Identity and devices as they are now.
    func snapshot() throws -> ControllerSnapshot {
        let next = try sequences.reserve("node", startingAt: 2).upperBound
        let entries = try ["identity", "device"].flatMap { namespace in
            try table.entries(namespace).map { ControllerSnapshot.Entry(namespace: namespace, key: $0.key, value: $0.value) }
        }
        return ControllerSnapshot(entries: entries, nextNodeID: UInt64(clamping: next))
    }

    /// Puts a snapshot's devices in place of the present ones. - Throws: `ControllerError` when it is another home's.
    func restore(_ snapshot: ControllerSnapshot) throws {
        let own = try table.value("identity", "controller")
        guard snapshot.entries.contains(where: { $0.namespace == "identity" && $0.key == "controller" && $0.value == own }) else {
            throw ControllerError(.badRequest, "the snapshot is of another home: open a controller with it instead")
        }
        var batch = snapshot.batch
        for device in try devices()
        where !snapshot.entries.contains(where: { $0.namespace == "device" && $0.key == Self.key(device.nodeID) }) {
            batch.delete("device", Self.key(device.nodeID))
        }
        try table.commit(batch)
    }

    // MARK: Devices

    /// A node id that no device of this home has had.
    func reserveNodeID() throws -> NodeID { NodeID(UInt64(try sequences.reserve("node", startingAt: 2).lowerBound)) }

    /// All devices, by node id. One whose record cannot be read is told and left out.
    public func devices() throws -> [PairedDevice] {
        try table.entries("device").compactMap { key, value in
            if let number = UInt64(key, radix: 16), let record = try? TLVValue(decoding: value),
                let device = PairedDevice(nodeID: NodeID(number), tlv: record)
            {
                return device
            }
            Log.controller.error("what \(database.path ?? "the home") has of node 0x\(key) cannot be read: pair the device again")
            return nil
        }
    }

    /// The device with a name (case is ignored when nothing fits exactly) or node id (decimal or `0x…`).
    /// - Throws: `unknownDevice`, with the nearest name.
    public func device(_ text: String) throws -> PairedDevice {
        let devices = try devices()
        if let exact = devices.first(where: { $0.name == text }) { return exact }
        let loose = devices.filter { $0.name.lowercased() == text.lowercased() }
        if loose.count == 1, let only = loose.first { return only }
        let number = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
        if let number, let device = devices.first(where: { $0.nodeID.rawValue == number }) { return device }
        if let slash = text.lastIndex(of: "/"), devices.contains(where: { $0.name == text[..<slash] }) {
            throw ControllerError(
                .badRequest,
                "'\(text[text.index(after: slash)...])' is no endpoint of \(text[..<slash]): a number from 0 to 65534 is expected")
        }
        throw ControllerError(
            .unknownDevice, DataModel.unknownName(text, "device", among: devices.map(\.name).sorted(), none: "none is paired yet"))
    }

    /// Changes what is kept of a device, unless it has left the home meanwhile, by the hand of another process perhaps.
    /// - Returns: the device as it is kept now; nil when it has left.
    @discardableResult
    func update(_ node: NodeID, _ change: (inout PairedDevice) -> Void) throws -> PairedDevice? {
        try database.transaction {
            guard let before = try devices().first(where: { $0.nodeID == node }) else { return nil }
            var device = before
            change(&device)
            if device != before { try save(device) }
            return device
        }
    }

    private func save(_ device: PairedDevice) throws {
        var batch = WriteBatch()
        batch.put("device", Self.key(device.nodeID), device.tlv.encoded())
        try table.commit(batch)
    }

    func remove(_ node: NodeID) throws {
        var batch = WriteBatch()
        batch.delete("device", Self.key(node))
        try table.commit(batch)
        backup()
    }

    /// A copy to fall back on, after a device came or went. The store is small, so that this takes a moment only; a home without a fresh
    /// copy is no reason to fail what has succeeded.
    private func backup() {
        guard database.path != nil else { return }
        do { try database.backup() } catch { Log.controller.warning("the home has no fresh backup: \(error)") }
    }

    private static let timeKey = "last-known-good-time"

    /// Saves a new device under a name that no other has: `lamp`, `lamp 2`, `lamp 3`.
    /// - Parameter time: when its certificate was made, in seconds since 1970.
    func add(_ device: PairedDevice, time: Int64) throws -> PairedDevice {
        let added = try database.transaction {
            var device = device
            let taken = Set(try devices().filter { $0.nodeID != device.nodeID }.map { $0.name.lowercased() })
            let base = device.name
            var number = 2
            while taken.contains(device.name.lowercased()) {
                device.name = "\(base) \(number)"
                number += 1
            }
            try save(device)
            if time > lastKnownGoodTime {
                var batch = WriteBatch()
                batch.put("identity", Self.timeKey, TLVValue.signed(time).encoded())
                try table.commit(batch)
            }
            return device
        }
        lastKnownGoodTime = max(lastKnownGoodTime, time)
        backup()
        return added
    }

    private static func key(_ node: NodeID) -> String {
        let digits = String(node.rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// What a controller keeps of its home, at one moment: its identity, with the private keys, and its devices. Never log it.
public struct ControllerSnapshot: Sendable {
    struct Entry: Sendable {
        var namespace: String
        var key: String
        var value: [UInt8]
    }
    var entries: [Entry]
    var nextNodeID: UInt64

    var batch: WriteBatch {
        var batch = WriteBatch()
        for entry in entries { batch.put(entry.namespace, entry.key, entry.value) }
        return batch
    }
}
