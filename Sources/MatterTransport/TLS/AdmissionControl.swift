import HearthIO
import HearthTime

/// Divides a process's time and places among those who knock. Everything here is about sockets; links in memory come from inside and
/// are not limited.
final class AdmissionControl {
    private let loop: EventLoop
    private let limits: TransportLimits

    /// In the order of their coming.
    private var unauthenticated: [ObjectIdentifier: TLSConnection] = [:]
    private var order: [ObjectIdentifier] = []
    private var pausedAcceptors: [TLSAcceptor] = []

    private var handshakes: Set<ObjectIdentifier> = []
    private var slotQueue: [TLSConnection] = []
    private var stepQueue: [TLSConnection] = []
    private var steps: Int
    private var isTurnScheduled = false
    private var isSweepScheduled = false

    init(_ loop: EventLoop, _ limits: TransportLimits) {
        (self.loop, self.limits) = (loop, limits)
        steps = max(1, limits.handshakeStepsPerTurn)
    }

    var load: TransportLoad {
        TransportLoad(
            unauthenticated: unauthenticated.count, handshakes: handshakes.count, waiting: slotQueue.count + stepQueue.count,
            pausedAcceptors: pausedAcceptors.count)
    }

    // MARK: Places

    var hasRoom: Bool { unauthenticated.count < limits.unauthenticated }

    /// Whether another stranger may be let in. When all places are taken, `makeRoom` must follow.
    var mayAccept: Bool { hasRoom || leastDeserving() != nil }

    /// When all places are taken the one that has kept its place longest without a whole ClientHello gives it up, so that those who say
    /// nothing cannot keep out those who do; failing that, the oldest whose handshake has stood still for longer than
    /// `TransportLimits.patience`.
    func makeRoom() {
        if hasRoom { return }
        leastDeserving()?.finish(TLSError(.timedOut, "another takes the place of a peer that does nothing"))
    }

    private func leastDeserving() -> TLSConnection? {
        let now = EventLoop.now()
        var stalled: TLSConnection?
        for id in order {
            // Whoever waits for us has done its part.
            guard let connection = unauthenticated[id], connection.phase == .handshaking, !connection.isWaitingForTurn else { continue }
            if !connection.hasGreeted { return connection }
            if stalled == nil, now - min(now, connection.lastProgress) > patience { stalled = connection }
        }
        return stalled
    }

    private var patience: UInt64 { UInt64(max(0, limits.patience.wholeNanoseconds)) }

    func accepted(_ connection: TLSConnection) {
        let id = ObjectIdentifier(connection)
        unauthenticated[id] = connection
        order.append(id)
        if order.count > 2 * limits.unauthenticated + 64 { order.removeAll { unauthenticated[$0] == nil } }
    }

    /// Tells `acceptor` by `resumeAccepting` when there is room.
    func waitForRoom(_ acceptor: TLSAcceptor) {
        if !pausedAcceptors.contains(where: { $0 === acceptor }) { pausedAcceptors.append(acceptor) }
        scheduleSweep()
    }

    func stopWaiting(_ acceptor: TLSAcceptor) { pausedAcceptors.removeAll { $0 === acceptor } }

    /// The peer has shown who it is, or the connection has ended.
    func leave(_ connection: TLSConnection) {
        guard unauthenticated.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        if unauthenticated.isEmpty { order = [] }
        guard !pausedAcceptors.isEmpty, hasRoom else { return }
        let waiting = pausedAcceptors
        pausedAcceptors = []
        for acceptor in waiting { acceptor.resumeAccepting() }
    }

    // MARK: Handshakes

    /// Called with a whole ClientHello: true when its handshake may go on, false when it has to wait for `retryHandshake`.
    func takeSlot(_ connection: TLSConnection) -> Bool {
        let id = ObjectIdentifier(connection)
        if handshakes.contains(id) { return true }
        guard handshakes.count < limits.handshakes else {
            slotQueue.append(connection)
            scheduleSweep()
            return false
        }
        handshakes.insert(id)
        return true
    }

    /// The handshake is over, one way or the other.
    func freeSlot(_ connection: TLSConnection) {
        if handshakes.remove(ObjectIdentifier(connection)) == nil {
            if !slotQueue.isEmpty { slotQueue.removeAll { $0 === connection } }
            if !stepQueue.isEmpty { stepQueue.removeAll { $0 === connection } }
            return
        }
        if slotQueue.isEmpty { return }
        requestStep(slotQueue.removeFirst())
    }

    /// Lets `connection` take a step of its handshake, now or in a later turn; it must not be woken meanwhile.
    func requestStep(_ connection: TLSConnection) {
        scheduleTurn()
        if steps > 0, stepQueue.isEmpty {
            steps -= 1
            connection.handshake()
        } else {
            connection.waitsForTurn()
            stepQueue.append(connection)
        }
    }

    private func scheduleTurn() {
        if isTurnScheduled { return }
        isTurnScheduled = true
        loop.schedule(after: .zero) { self.turn() }
    }

    private func turn() {
        isTurnScheduled = false
        steps = max(1, limits.handshakeStepsPerTurn)
        while steps > 0, !stepQueue.isEmpty {
            steps -= 1
            scheduleTurn()
            stepQueue.removeFirst().handshake()
        }
    }

    // MARK: Those who take a place and do nothing with it

    private func scheduleSweep() {
        if isSweepScheduled { return }
        isSweepScheduled = true
        loop.schedule(after: limits.patience / 4) { self.sweep() }
    }

    private func sweep() {
        isSweepScheduled = false
        guard !pausedAcceptors.isEmpty || !slotQueue.isEmpty else { return }
        scheduleSweep()
        let now = EventLoop.now()
        for connection in order.compactMap({ unauthenticated[$0] }) where now - min(now, connection.lastProgress) > patience {
            let isHandshaking = handshakes.contains(ObjectIdentifier(connection))
            guard isHandshaking ? !slotQueue.isEmpty : connection.isSilent && !pausedAcceptors.isEmpty else { continue }
            connection.finish(TLSError(.timedOut, "the peer does nothing while others wait"))
        }
    }
}
