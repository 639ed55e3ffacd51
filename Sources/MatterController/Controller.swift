import HearthIO
import HearthTime
import MatterCredentials
import MatterDiscovery
import MatterInteraction
import MatterModel
import MatterTLV
import MatterTransport

/// A Matter controller: takes devices into its home and reads, writes, invokes and subscribes on them over TLS.
///
/// An actor of one timeline; every method may be called from any task. Names of devices are those of `devices()`, or node ids.
public actor Controller {
    public nonisolated let timeline: Timeline
    public nonisolated var unownedExecutor: UnownedSerialExecutor { timeline.asUnownedSerialExecutor() }

    private let context: ControllerContext
    private var peers: [NodeID: Peer] = [:]
    private var subscriptions: [Int: DeviceSubscription] = [:]
    private var lastSubscription = 0

    /// Where a controller keeps its home.
    public enum Store: Sendable {
        /// A folder, made when it does not exist (mode 0700).
        case folder(String)
        case memory
        /// In memory, as another controller was.
        case snapshot(ControllerSnapshot)
    }

    /// Opens a controller.
    /// - Parameter name: part of the order of events in virtual time; two controllers of one timeline need two names.
    /// - Throws: `StoreError`, `CredentialsError`, `DiscoveryError`.
    public static func open(
        name: String = "controller", store: Store, transport: TLSTransport, discovery: SharedDiscovery,
        settings: ControllerSettings = ControllerSettings(), seed: UInt64 = 0
    ) async throws -> Controller {
        let timeline = transport.timeline
        return try await timeline.call("open controller") {
            let home: ControllerHome
            switch store {
            case .folder(let path): home = try ControllerHome(folder: path, wall: timeline.wall())
            case .memory: home = try ControllerHome(inMemoryAt: timeline.wall())
            case .snapshot(let snapshot): home = try ControllerHome(snapshot: snapshot, wall: timeline.wall())
            }
            let context = try ControllerContext(
                name: name, timeline: timeline, transport: transport, home: home, discovery: discovery.discovery(), settings: settings,
                seed: seed)
            return Controller(context)
        }
    }

    private init(_ context: sending ControllerContext) {
        timeline = context.timeline
        self.context = context
    }

    /// Ends every session. The controller is of no use afterwards.
    public nonisolated func close() async {
        try? await timeline.call("close controller") { await self.closeInside() }
    }

    private func closeInside() {
        // In a fixed order: what the devices see of it is part of a run that can be repeated.
        for (_, subscription) in subscriptions.sorted(by: { $0.key < $1.key }) { subscription.end() }
        subscriptions = [:]
        for (_, peer) in peers.sorted(by: { $0.key < $1.key }) { peer.disconnect() }
        peers = [:]
        context.listener.close()
        context.home.close()
    }

    // MARK: The home

    /// Who this controller is.
    public struct Identity: Sendable, Hashable {
        public var nodeID: NodeID
        public var fabricID: FabricID
        public var compressedFabricID: UInt64
        /// The root's public key, 65 bytes.
        public var rootPublicKey: [UInt8]
    }

    public nonisolated func whoAmI() async throws -> Identity {
        try await timeline.call("whoami") { await self.identity() }
    }

    private func identity() -> Identity {
        let fabric = context.home.authority.fabric
        return Identity(
            nodeID: context.home.identity.nodeID, fabricID: fabric.fabricID, compressedFabricID: fabric.compressedID,
            rootPublicKey: fabric.rootPublicKey)
    }

    /// What to tell the user once: a damaged store was replaced by its backup.
    public nonisolated func storeRecovery() async -> String? {
        try? await timeline.call("recovery") { await self.recoveryMessage() }
    }
    private func recoveryMessage() -> String? { context.home.recovery?.message }

    /// Who the controller is, and its devices, as they are now. It holds private keys: never log it.
    public nonisolated func snapshot() async throws -> ControllerSnapshot {
        try await timeline.call("snapshot") { try await self.snapshotInside() }
    }
    private func snapshotInside() throws -> ControllerSnapshot { try context.home.snapshot() }

    /// Puts the devices of a snapshot of this controller in place of the present ones. Sessions and subscriptions of the present ones end.
    public nonisolated func restore(_ snapshot: ControllerSnapshot) async throws {
        try await timeline.call("restore") { try await self.restoreInside(snapshot) }
    }
    private func restoreInside(_ snapshot: ControllerSnapshot) throws {
        try context.home.restore(snapshot)
        for (_, subscription) in subscriptions.sorted(by: { $0.key < $1.key }) { subscription.end() }
        subscriptions = [:]
        for (_, peer) in peers.sorted(by: { $0.key < $1.key }) { peer.disconnect() }
        peers = [:]
    }

    /// The devices of the home, by node id.
    public nonisolated func devices() async throws -> [PairedDevice] {
        try await timeline.call("devices") { try await self.devicesInside() }
    }
    private func devicesInside() throws -> [PairedDevice] { try context.home.devices() }

    /// The device with a name or node id. - Throws: `ControllerError.unknownDevice`.
    public nonisolated func device(_ name: String) async throws -> PairedDevice {
        try await timeline.call("device") { try await self.deviceInside(name) }
    }
    private func deviceInside(_ name: String) async throws -> PairedDevice {
        let device = try context.home.device(name)
        guard device.endpoints.isEmpty else { return device }
        // Its pairing ended before it had said what it has.
        do {
            return try await DeviceDescription.fill(device, peer(device), context.home)
        } catch {
            Log.controller.info("\(device.name) does not say what it has: \(error)")
            return device
        }
    }

    /// Whether a session with the device is open or can be made now.
    public nonisolated func isReachable(_ device: String) async -> Bool {
        (try? await timeline.call("reach") { try await self.reach(device) }) ?? false
    }
    private func reach(_ device: String) async throws -> Bool {
        _ = try await peer(context.home.device(device)).connected()
        return true
    }

    // MARK: Pairing

    /// Takes a device into the home.
    /// - Parameters:
    ///   - code: an 11- or 21-digit manual code, or an `MT:` QR payload.
    ///   - address: where the device is, when discovery need not look.
    ///   - progress: hears each stage as it begins, on the timeline's thread.
    /// - Throws: `ControllerError` with code `pairingFailed` and the stage, or `badRequest` for a malformed code.
    @discardableResult
    public nonisolated func pair(
        _ code: String, name: String? = nil, address: TransportAddress? = nil,
        progress: @escaping @Sendable (PairingStage) -> Void = { _ in }
    ) async throws -> PairedDevice {
        let payload: SetupPayload
        do { payload = try SetupPayload(code) } catch { throw ControllerError(.badRequest, "the setup code is not valid: \(error)") }
        return try await timeline.call("pair") { try await self.pairInside(payload, name, address, progress) }
    }

    private func pairInside(
        _ payload: SetupPayload, _ name: String?, _ address: TransportAddress?, _ progress: @escaping @Sendable (PairingStage) -> Void
    ) async throws -> PairedDevice {
        if let name, !name.isVisibleName || name.utf8.count > PairedDevice.nameLimit {
            throw ControllerError(
                .badRequest, "the name is not usable: 1 to \(PairedDevice.nameLimit) bytes without control characters are allowed")
        }
        // One whose pairing was cut short is in the home, or leaves it, now.
        for device in try context.home.devices() where device.isIncomplete { _ = try? await peer(device).connected() }
        if let name, let holder = try context.home.devices().first(where: { $0.name.lowercased() == name.lowercased() }) {
            let remedy =
                holder.isIncomplete
                ? "is being paired, or its pairing was cut short, and it cannot be reached: choose another name, or unpair it first with --force"
                : "is paired already: choose another name, or unpair it first"
            throw ControllerError(.badRequest, "a device named '\(name)' \(remedy)")
        }
        let commissioner = Commissioner(context: context, payload: payload, progress: progress)
        let (device, peer) = try await commissioner.run(name: name, address: address)
        keep(peer, device)
        return device
    }

    /// Takes a device out of the home. A device that cannot be reached is forgotten with `force`, and always one that says itself that it
    /// is in no such home any more.
    public nonisolated func unpair(_ device: String, force: Bool = false) async throws {
        try await timeline.call("unpair") { try await self.unpairInside(device, force) }
    }

    private func unpairInside(_ name: String, _ force: Bool) async throws {
        let device = try context.home.device(name)
        do {
            let client = try await peer(device).connected()
            let fabricIndex = try await value(
                AttributePath(0, OperationalCredentials.id, OperationalCredentials.Attributes.currentFabricIndex), client)
            guard let index = fabricIndex.unsigned.flatMap({ FabricIndex(exactly: $0) }) else {
                throw InteractionError.malformed("CurrentFabricIndex is no index")
            }
            let response = try await DeviceUnderPairing(client: client).invoke(OperationalCredentials.RemoveFabric(fabricIndex: index))
            guard response.statusCode == .ok else {
                throw ControllerError(.refused, "\(device.name) refused to leave the home: status \(response.statusCode.rawValue)")
            }
        } catch  where force || peer(device).isStranger {
            Log.controller.info("\(device.name) is forgotten without its knowledge: \(error)")
        } catch {
            let failure = ControllerError(error, device: device.name)
            guard failure.code == .unreachable else { throw failure }
            throw ControllerError(
                .unreachable, failure.message + " To forget it without its knowledge, use --force; then it has to be reset, too")
        }
        for (number, subscription) in subscriptions.sorted(by: { $0.key < $1.key }) where subscription.nodeID == device.nodeID {
            subscription.end()
            subscriptions[number] = nil
        }
        peers.removeValue(forKey: device.nodeID)?.disconnect()
        context.listener.disconnect(device.nodeID)
        try context.home.remove(device.nodeID)
    }

    // MARK: Interactions

    /// Reads attributes and events.
    public nonisolated func read(_ device: String, _ selection: ReadSelection) async throws -> ReportAccumulator {
        try await timeline.call("read") { try await self.readInside(device, selection) }
    }
    private func readInside(_ name: String, _ selection: ReadSelection) async throws -> ReportAccumulator {
        try await withClient(name) { client in try await client.read(selection) }
    }

    /// Writes attributes. - Parameter timed: milliseconds of a timed request before it; nil sends none.
    public nonisolated func write(
        _ device: String, _ writes: [AttributeData], timed: UInt16? = nil, delay: Duration = .zero
    ) async throws -> [WriteResponse.Item] {
        try await timeline.call("write") { try await self.writeInside(device, writes, timed, delay) }
    }
    private func writeInside(
        _ name: String, _ writes: [AttributeData], _ timed: UInt16?, _ delay: Duration
    ) async throws -> [WriteResponse.Item] {
        try await withClient(name) { client in try await client.write(writes, timed: timed, delay: delay) }
    }

    /// Invokes commands. - Parameter timed: milliseconds of a timed request before it; nil sends none.
    public nonisolated func invoke(
        _ device: String, _ commands: [CommandData], timed: UInt16? = nil, delay: Duration = .zero
    ) async throws -> [CommandAnswer] {
        try await timeline.call("invoke") { try await self.invokeInside(device, commands, timed, delay) }
    }
    private func invokeInside(
        _ name: String, _ commands: [CommandData], _ timed: UInt16?, _ delay: Duration
    ) async throws -> [CommandAnswer] {
        try await withClient(name) { client in try await client.invoke(commands, timed: timed, delay: delay) }
    }

    /// Subscribes. Returns the subscription's number and the priming report; `update` hears what follows, on the timeline's thread.
    public nonisolated func subscribe(
        _ device: String, _ request: SubscribeRequest, update: @escaping @Sendable (SubscriptionUpdate) -> Void
    ) async throws -> (number: Int, report: ReportAccumulator) {
        try await timeline.call("subscribe") { try await self.subscribeInside(device, request, update) }
    }

    private func subscribeInside(
        _ name: String, _ request: SubscribeRequest, _ update: @escaping @Sendable (SubscriptionUpdate) -> Void
    ) async throws -> (number: Int, report: ReportAccumulator) {
        let device = try context.home.device(name)
        lastSubscription += 1
        let number = lastSubscription
        let subscription = DeviceSubscription(
            number: number, peer: peer(device), context: context, request: request,
            update: { [weak self] event in
                if case .ended = event { self?.assumeIsolated { $0.subscriptions[number] = nil } }
                update(event)
            })
        subscriptions[number] = subscription
        do {
            return (number, try await subscription.begin())
        } catch {
            subscription.end()
            subscriptions[number] = nil
            throw ControllerError(error, device: device.name)
        }
    }

    /// Ends a subscription by the number that `subscribe` gave; nothing happens when there is none.
    public nonisolated func unsubscribe(_ number: Int) async throws {
        try await timeline.call("unsubscribe") { await self.unsubscribeInside(number) }
    }
    private func unsubscribeInside(_ number: Int) { subscriptions.removeValue(forKey: number)?.end() }

    // MARK: Windows

    /// Opens a commissioning window on a device for another administrator, with a passcode of its own (Matter Core, 11.19.8.1).
    /// - Parameter timeout: seconds, 180 to 900.
    public nonisolated func openWindow(_ device: String, timeout: UInt16) async throws -> SetupPayload {
        try await timeline.call("open window") { try await self.openWindowInside(device, timeout) }
    }

    private func openWindowInside(_ name: String, _ timeout: UInt16) async throws -> SetupPayload {
        let device = try context.home.device(name)
        let passcode = Passcode.random()
        let parameters = try PBKDFParameters.random()
        let verifier = try Spake2Plus.Verifier(passcode: passcode.value, salt: parameters.salt, iterations: parameters.iterations)
        let discriminator = UInt16(Crypto.random(2).reduce(0) { $0 << 8 | UInt32($1) } & 0xFFF)
        let request = AdministratorCommissioning.OpenCommissioningWindow(
            commissioningTimeout: timeout, pakePasscodeVerifier: verifier.serialized, discriminator: discriminator,
            iterations: UInt32(parameters.iterations), salt: parameters.salt)
        let path = WireCommandPath(
            CommandPath(0, AdministratorCommissioning.id, AdministratorCommissioning.Commands.openCommissioningWindow))
        let answers = try await withClient(device.name) { client in
            try await client.invoke([CommandData(path, request.tlv)], timed: 10_000)
        }
        guard case .status(let status)? = answers.first?.outcome, status.isSuccess else {
            if case .status(let status)? = answers.first?.outcome { throw ControllerError.refused(status, device.name) }
            throw ControllerError(.noResponse, "\(device.name) gave no answer to OpenCommissioningWindow")
        }
        return SetupPayload(
            vendorID: device.vendorID, productID: device.productID, discriminator: try Discriminator(long: discriminator),
            passcode: passcode)
    }

    // MARK: Credentials

    /// What another program needs to act as this controller: certificates and the private key, in PEM. Never log it.
    public struct ExportedCredentials: Sendable {
        public var certificate: String
        public var privateKey: String
        public var intermediate: String?
        public var root: String
        public var identity: Identity
    }

    public nonisolated func exportCredentials() async throws -> ExportedCredentials {
        try await timeline.call("export") { await self.exportInside() }
    }
    private func exportInside() -> ExportedCredentials {
        context.home.export(identity())
    }

    // MARK: Parts

    private func peer(_ device: PairedDevice) -> Peer {
        if let peer = peers[device.nodeID] { return peer }
        let peer = Peer(device, context: context)
        keep(peer, device)
        return peer
    }

    private func keep(_ peer: Peer, _ device: PairedDevice) {
        peers[device.nodeID] = peer
        let context = context
        peer.onAddresses = { addresses in
            // Kept for the next process; a store that is full is no reason to fail a call that works.
            do { try context.home.update(device.nodeID) { $0.addresses = addresses.map(\.description) } } catch {
                Log.controller.warning("the new address of \(device.name) was not stored: \(error)")
            }
        }
    }

    private func withClient<Result>(
        _ name: String, _ body: (InteractionClient) async throws -> Result
    ) async throws -> Result {
        let device = try context.home.device(name)
        do {
            return try await body(peer(device).connected())
        } catch {
            if case InteractionError.noResponse = error { peer(device).doubt() }
            throw ControllerError(error, device: device.name)
        }
    }

    private func value(_ path: AttributePath, _ client: InteractionClient) async throws -> TLVValue {
        let report = try await client.read(ReadSelection(attributes: [AttributePathPattern(path)]))
        guard let outcome = report.attributes.first?.outcome else { throw InteractionError.malformed("an empty report") }
        switch outcome {
        case .value(_, let value): return value
        case .status(let status): throw status
        }
    }
}

extension Log {
    static let controller = Log("controller")
}
