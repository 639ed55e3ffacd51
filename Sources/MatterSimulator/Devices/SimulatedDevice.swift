import Glibc
import HearthTime
import MatterCredentials
import MatterDevice
import MatterInteraction
import MatterModel
import MatterNode
import MatterTLV
import MatterTransport

/// One virtual device: what it was made as, and the node that runs while it has power. Belongs to the timeline's thread.
final class SimulatedDevice {
    let name: String
    let profile: DeviceProfile
    /// Where the fleet says it is.
    var room: String?
    let setup: SetupPayload
    let origin: Timeline.Origin
    private(set) var host: NodeHost?
    /// What goes wrong with the device on purpose.
    let faults = FaultSet()
    let journal: Journal
    var onAdvertised: () -> Void = {}
    var clockOffset: Duration = .zero { didSet { host?.node.environment.clockOffset = clockOffset } }

    private let services: NodeServices
    private let pairing: PairingParameters
    private let attestation: DeviceAttestation
    private let seed: UInt64
    private var port: UInt16
    /// The port was asked for; otherwise another one will do when somebody else has taken it meanwhile.
    private let isPortAskedFor: Bool
    /// The device's part of the store.
    let store: any DeviceStore

    init(
        name: String, profile: DeviceProfile, index: Int, port: UInt16, services: NodeServices, attestation: DeviceAttestation,
        journal: Journal, discriminatorSeed: UInt64, seed: UInt64
    ) throws {
        (self.name, self.profile, self.services, self.attestation, self.seed) = (name, profile, services, attestation, seed)
        self.journal = journal
        isPortAskedFor = port != 0
        origin = services.timeline.origin("device \(name)")
        store = services.hub.store(for: name)
        let made: Birth
        do { made = try Self.birth(profile, index: index, port: port, seed: discriminatorSeed, store: store) } catch {
            // Damage from before the store had checksums. A new setup code would be no answer.
            throw SimulatorError(
                .store,
                "\(name): what \(services.hub.path ?? "the memory") has of its making (setup code, port) cannot be used (\(error)): restore "
                    + "the folder from a copy, or give the device another name to have a new one")
        }
        (setup, pairing, self.port) = (made.setup, made.pairing, made.port)
    }

    // MARK: What a device keeps from its making

    static let birthKey = "birth"

    private struct Birth {
        var setup: SetupPayload
        var pairing: PairingParameters
        var port: UInt16
    }

    /// Passcode, salt and discriminator: drawn once, kept for good, so that the label on the device stays true.
    private static func birth(
        _ profile: DeviceProfile, index: Int, port: UInt16, seed: UInt64, store: any DeviceStore
    ) throws -> Birth {
        if let bytes = store.value(for: birthKey) {
            let value = try TLVValue(decoding: bytes)
            guard let passcode = value[0]?.unsigned.flatMap({ UInt32(exactly: $0) }), let salt = value[1]?.octets,
                let iterations = value[2]?.unsigned.flatMap({ Int(exactly: $0) }),
                let discriminator = value[3]?.unsigned.flatMap({ UInt16(exactly: $0) }), let verifier = value[4]?.octets
            else { throw SimulatorError(.store, "a part of it is missing") }
            // A profile that wants others now has them.
            if profile.passcode.map({ $0.value == passcode }) ?? true, profile.discriminator.map({ $0 == discriminator }) ?? true {
                let pairing = PairingParameters(
                    verifier: try Spake2Plus.Verifier(serialized: verifier),
                    key: try PBKDFParameters(iterations: iterations, salt: salt), discriminator: discriminator)
                return Birth(
                    setup: try payload(profile, Passcode(passcode), discriminator), pairing: pairing,
                    port: port != 0 ? port : value[5]?.unsigned.flatMap { UInt16(exactly: $0) } ?? 0)
            }
        }
        let passcode = profile.passcode ?? Passcode.random()
        let discriminator = profile.discriminator ?? Discriminator.ofFleet(index: index, seed: seed)
        let parameters = try PBKDFParameters.random()
        let pairing = try PairingParameters(passcode: passcode, discriminator: discriminator, key: parameters)
        let record = TLVValue.structure([
            TLVElement(0, .unsigned(UInt64(passcode.value))), TLVElement(1, .octets(parameters.salt)),
            TLVElement(2, .unsigned(UInt64(parameters.iterations))), TLVElement(3, .unsigned(UInt64(discriminator))),
            TLVElement(4, .octets(pairing.verifier.serialized)),
        ])
        store.put(record.encoded(), for: birthKey)
        return Birth(setup: try payload(profile, passcode, discriminator), pairing: pairing, port: port)
    }

    /// Notes the port beside what the device has from its making, so that peers find it where it was after a restart too.
    private func keepPort() {
        guard let bytes = store.value(for: Self.birthKey), case .structure(let members)? = try? TLVValue(decoding: bytes),
            members.first(where: { $0.tag == 5 })?.value.unsigned != UInt64(port)
        else { return }
        store.put(
            TLVValue.structure(members.filter { $0.tag != 5 } + [TLVElement(5, .unsigned(UInt64(port)))]).encoded(), for: Self.birthKey)
    }

    private static func payload(_ profile: DeviceProfile, _ passcode: Passcode, _ discriminator: UInt16) throws -> SetupPayload {
        SetupPayload(
            vendorID: profile.vendorID, productID: profile.productID, discriminator: try Discriminator(long: discriminator),
            passcode: passcode)
    }

    // MARK: Power

    var isRunning: Bool { host != nil }

    /// Switches the device on. - Throws: `SimulatorError.network` when its port is taken.
    func start(_ reason: GeneralDiagnostics.BootReasonEnum = .powerOnReboot) throws {
        guard host == nil else { return }
        let environment = DeviceEnvironment(timeline: services.timeline, origin: origin, store: store, name: name, seed: seed)
        environment.clockOffset = clockOffset
        let node = DeviceNode(environment: environment)
        node.bootReason = reason
        node.maximumPathsPerInvoke = Int(profile.maximumPathsPerInvoke)
        let identity = DeviceIdentity(
            vendorID: profile.vendorID, vendorName: profile.vendorName, productID: profile.productID, productName: profile.productName,
            serialNumber: profile.serialNumber ?? Self.serial(name, seed), uniqueID: Self.serial(name + "/unique", seed),
            nodeLabel: name.clipped(toBytes: 32), pairing: pairing, primaryDeviceType: profile.endpoints.first?.deviceTypes.first)
        node.addRootEndpoint(identity: identity, attestation: attestation, configurations: profile.root)
        let parts = Dictionary(grouping: profile.endpoints) { $0.parent ?? 0 }.mapValues { $0.map(\.id) }
        for endpoint in profile.endpoints { node.add(EndpointBuilder.build(endpoint, parts: parts[endpoint.id] ?? [], on: node)) }

        let host = NodeHost(name: name, node: node, services: services, port: port)
        host.interceptions = interceptions()
        journal.observe(name, node)
        journal.record(name, .start)
        host.onAdvertised = { [weak self] in self?.onAdvertised() }
        host.onAdvertisingFailure = { [name] in Log.simulator.warning("\(name) is not advertised: \($0)") }
        do {
            try host.start()
        } catch {
            host.stop(abruptly: true)
            if port != 0, !isPortAskedFor {
                port = 0
                return try start(reason)
            }
            let advice =
                if (error as? TLSError)?.systemError == EMFILE {
                    "A process may not have more files and connections open here: raise the limit with 'ulimit -n', or launch fewer devices"
                } else {
                    "Choose another port, or none for one that is free"
                }
            throw SimulatorError(.network, "\(name) \(error). \(advice)")
        }
        // A device keeps its port over a reboot, so that its peers find it where it was.
        port = host.port
        keepPort()
        self.host = host
        faults.started(self)
    }

    /// Switches the device off; `abruptly` as when the power fails.
    func stop(abruptly: Bool = false) {
        guard let stopping = host else { return }
        host = nil
        stopping.stop(abruptly: abruptly)
        journal.record(name, .stop)
    }

    // MARK: Faults and journal

    /// Faults have come or gone.
    func faultsChanged() { host?.interceptions = interceptions() }

    private func interceptions() -> NodeInterceptions {
        var interceptions = NodeInterceptions()
        faults.apply(to: &interceptions)
        journal.observe(name, &interceptions)
        return interceptions
    }

    var info: DeviceInfo {
        DeviceInfo(
            name: name, profile: profile.name, room: room, port: host?.port ?? 0, setupCode: setup.manualCode, qrCode: setup.qrCode,
            isPaired: host.map { !$0.node.commissioning.fabrics.fabrics.isEmpty } ?? false, isRunning: isRunning,
            endpoints: [0] + profile.endpoints.map(\.id), deviceTypes: profile.endpoints.flatMap(\.deviceTypes))
    }

    /// Stable and unlike that of every other device: from name and seed.
    private static func serial(_ name: String, _ seed: UInt64) -> String {
        var stream = RandomStream(seed: seed, owner: name, purpose: "serial")
        let digits = String(stream.bits(), radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }
}

extension SimulatedDevice: FaultTarget {
    var timeline: Timeline { services.timeline }
    var node: DeviceNode? { host?.node }
    func cutPower() { stop(abruptly: true) }
    func restorePower() {
        do { try start() } catch { Log.simulator.error("\(name) does not come back: \(error)") }
    }
    func endSessions() { host?.abortSessions() }
}

extension Log {
    static let simulator = Log("simulator")
}
