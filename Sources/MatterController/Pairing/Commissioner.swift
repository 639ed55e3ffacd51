import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import MatterTransport

/// Takes one device into the home: the commissioning flow of Matter Core, 5.5, over Hearth's pairing connection.
///
/// When a step fails the connection is closed, which makes the device forget the attempt: at once before it has its certificate,
/// after that when its fail-safe expires.
final class Commissioner {
    private let context: ControllerContext
    private let payload: SetupPayload
    private let progress: (PairingStage) -> Void
    private var stage = PairingStage.discovery

    init(context: ControllerContext, payload: SetupPayload, progress: @escaping (PairingStage) -> Void) {
        (self.context, self.payload, self.progress) = (context, payload, progress)
    }

    /// - Parameters:
    ///   - name: what the device is to be called; nil takes the name that it gives itself.
    ///   - address: where it is, when discovery need not look.
    /// - Throws: `ControllerError.pairingFailed` with the stage.
    func run(name: String?, address: TransportAddress?) async throws -> (device: PairedDevice, peer: Peer) {
        do {
            return try await pair(name: name, address: address)
        } catch let error as ControllerError where error.code == .pairingFailed {
            throw error
        } catch {
            throw failure(String(describing: error), status: (error as? ControllerError)?.status)
        }
    }

    private func failure(_ reason: String, status: Status? = nil) -> ControllerError {
        ControllerError(.pairingFailed, "pairing failed while \(stage.title): \(reason)", status: status, stage: stage)
    }

    private func enter(_ stage: PairingStage) {
        self.stage = stage
        progress(stage)
    }

    private func pair(name: String?, address: TransportAddress?) async throws -> (device: PairedDevice, peer: Peer) {
        let found = try await proveSomewhere(address)
        let session = found.session
        // Whatever ends this, the pairing session must not stay open.
        defer { session.close() }
        let client = InteractionClient(session: session, timeline: context.timeline, origin: context.origin)
        client.limit = context.settings.answer
        let device = DeviceUnderPairing(client: client)

        enter(.information)
        let information = try await device.information()
        enter(.failSafe)
        try await device.armFailSafe(seconds: max(60, information.failSafe), breadcrumb: 1)
        enter(.regulatory)
        try await device.setRegulatoryConfig(information.location, breadcrumb: 2)
        enter(.attestation)
        let attestation = try await device.attest(
            vendorID: information.vendorID, productID: information.productID, challenge: session.context.attestationChallenge,
            trust: DevelopmentAttestation.trust())
        enter(.certificateRequest)
        let publicKey = try await device.certificateRequest(attestation, challenge: session.context.attestationChallenge)
        let nodeID = try context.home.reserveNodeID()
        let now = MatterTime(unix: context.wallSeconds) ?? MatterTime(seconds: 1)
        let certificate = try context.home.authority.issueNode(nodeID, publicKey: publicKey, now: now)
        enter(.trustedRoot)
        do {
            try await device.addTrustedRoot(context.home.authority.root.tlv)
            enter(.operationalCertificate)
            try await device.addCertificate(
                certificate.tlv, intermediate: context.home.authority.intermediate?.tlv,
                identityProtectionKey: context.home.identityProtectionKey,
                administrator: context.home.identity.nodeID)
        } catch let error as ControllerError where error.code == .refused {
            let begin = max(context.home.authority.root.notBefore.unix, certificate.notBefore.unix)
            guard let doubt = ClockDoubt.text(begin: begin, wall: context.timeline.wall().components.seconds) else { throw error }
            throw failure("\(error.message). \(doubt)", status: error.status)
        }

        // A name that the device gives itself may be anything.
        let given = [information.name, found.name].lazy.compactMap { $0?.visibleName(toBytes: PairedDevice.nameLimit) }.first
        var paired = PairedDevice(
            nodeID: nodeID, name: name ?? given ?? "device \(nodeID.rawValue)", vendorID: information.vendorID,
            productID: information.productID, addresses: found.address.map { [$0] } ?? [])
        enter(.operationalConnection)
        let peer = Peer(paired, context: context)
        peer.onAddresses = { addresses in paired.addresses = addresses.map(\.description) }
        let operational = try await peer.connected()
        enter(.completion)
        // Before the device keeps what it was given for good: whoever is ended from here on finds it in the home, and can unpair it.
        paired.isIncomplete = true
        paired = try context.home.add(paired, time: context.wallSeconds)
        peer.name = paired.name
        do {
            try await complete(operational, peer)
        } catch {
            if (error as? ControllerError)?.code == .refused || peer.isStranger {
                try context.home.remove(nodeID)
                throw error
            }
            // Whether it has completed is not known when it says nothing any more: the home remembers that.
            throw failure(
                "\(error). '\(paired.name)' may have completed it: it stays in the home until it can be asked, or is unpaired with --force")
        }
        paired = try context.home.update(nodeID) { $0.isIncomplete = false } ?? paired
        enter(.description)
        do {
            paired = try await DeviceDescription.fill(paired, peer, context.home)
        } catch {
            // It belongs to the home now, whatever comes. What is on it is read when it is needed.
            Log.controller.warning("\(paired.name) is paired, but did not say what it has: \(error)")
        }
        return (paired, peer)
    }

    /// Sends CommissioningComplete. When its answer is lost the device may have done it all the same: it is asked again over a new
    /// connection, which it would not take if it had forgotten this home.
    private func complete(_ client: InteractionClient, _ peer: Peer) async throws {
        do {
            try await DeviceUnderPairing(client: client).complete()
        } catch let error where (error as? ControllerError)?.code != .refused {
            peer.disconnect()
            guard let again = try? await peer.connected() else { throw error }
            try await DeviceUnderPairing(client: again).complete()
        }
    }

    private struct Proven {
        var session: Session
        /// What the device calls itself in its advertisement.
        var name: String?
        /// Where it answered, when that is a socket.
        var address: String?
    }

    /// Finds the device and proves the passcode. A manual code carries 4 bits of the discriminator only, and even 12 bits may be those of
    /// two devices, so that several may have to be tried. One that somebody else is pairing with may be free in a moment: that other may
    /// just learn that it is not the device that they look for.
    private func proveSomewhere(_ address: TransportAddress?) async throws -> Proven {
        if let address {
            do { return try await prove(at: [address], name: nil) } catch let busy as Busy { throw busy.failure }
        }
        // Every wrong guess uses up one of the stranger's attempts, so that there is an end to them.
        let limit = 8
        var tried: Set<String> = []
        var busy: Set<String> = []
        var lastFailure: ControllerError?
        let end = context.timeline.now + context.settings.discovery
        enter(.discovery)
        while tried.count < limit {
            let isFirst = tried.isEmpty && busy.isEmpty
            let found = await context.resolver.commissionable(
                payload.discriminator, except: tried.union(busy),
                within: isFirst ? context.settings.discovery : context.settings.furtherDiscovery)
            guard let found else {
                guard !busy.isEmpty, context.timeline.now < end else { break }
                try await context.timeline.sleep(for: .seconds(1), origin: context.origin)
                busy = []
                continue
            }
            do {
                return try await prove(at: found.addresses, name: found.service.deviceName)
            } catch let error as Busy {
                busy.insert(found.instance)
                lastFailure = error.failure
            } catch let error as ControllerError where error.stage == .passcode || error.stage == .connection {
                tried.insert(found.instance)
                lastFailure = error
            }
        }
        if tried.count >= limit {
            throw failure(
                "\(limit) devices that fit the code were tried, and it is none of theirs. A manual code tells devices apart by four bits only: "
                    + "use the QR code (MT:…), or give the address with --address host:port")
        }
        if let lastFailure { throw lastFailure }
        stage = .discovery
        let which =
            payload.discriminator.all.map { "discriminator \($0)" } ?? "a discriminator that begins with \(payload.discriminator.upper)"
        throw failure(
            "no device with \(which) is waiting to be paired. Is it running and unpaired, or its window open? "
                + "Without multicast, give its address with --address host:port")
    }

    /// Somebody else is pairing with the device.
    private struct Busy: Error { let failure: ControllerError }

    /// - Throws: `Busy`, `ControllerError` with the stage.
    private func prove(at addresses: [TransportAddress], name: String?) async throws -> Proven {
        enter(.connection)
        let connection: TLSConnection
        do {
            connection = try await connect(addresses)
        } catch let error as TLSError where error.alert == .accessDenied {
            throw failure(
                "the device takes no pairing now: it is paired already, or its time for pairing is over, or too many wrong passcodes were "
                    + "tried. Open its window at the device, or from the home that it is in")
        } catch let error as TLSError where error.code == .busy {
            throw Busy(failure: failure(String(describing: error)))
        } catch {
            throw failure("no connection to \(addresses.map(\.description).joined(separator: ", ")): \(error)")
        }
        let binding: [UInt8]
        let session: Session
        do {
            binding = try connection.pairingBinding()
            session = try Session(link: connection, context: connection.sessionContext())
        } catch {
            throw failure(String(describing: error))
        }
        enter(.passcode)
        do {
            let client = PairingClient(
                session: session, timeline: context.timeline, origin: context.origin, limit: context.settings.answer)
            try await client.prove(payload.passcode, binding: binding)
        } catch PairingClient.Failure.busy {
            session.close()
            throw Busy(failure: failure(String(describing: PairingClient.Failure.busy)))
        } catch {
            session.close()
            throw failure(String(describing: error))
        }
        session.context.authMode = .pase
        return Proven(session: session, name: name, address: connection.address?.description)
    }

    private func connect(_ addresses: [TransportAddress]) async throws -> TLSConnection {
        let result: Result<Confined<TLSConnection>, TLSError> = await withCheckedContinuation { continuation in
            context.transport.dialPairing(addresses, name: "\(context.name)-pairing") { [timeline = context.timeline] result in
                continuation.resume(returning: result.map { Confined($0, on: timeline) })
            }
        }
        return try result.get().value
    }
}
