import HearthTime
import MatterCredentials
import MatterModel

/// When the device lets itself be paired, and with which passcode (Matter Core, 5.4.2.3 and 11.19). Runs in model time.
public final class CommissioningWindow {
    /// Whether the window is open, and with which passcode; raw values are those of TXT key CM.
    public enum Mode: UInt8, Sendable {
        case closed = 0
        /// With the passcode that the device was made with: advertised as CM=1.
        case basic = 1
        /// With a passcode that an administrator chose: advertised as CM=2.
        case enhanced = 2
    }

    /// Attempts with a wrong passcode that close the window.
    public static let maximumAttempts = 20
    /// How long an administrator can have it open, in seconds (Matter Core, 11.19.8.1).
    public static let timeouts: ClosedRange<UInt16> = 180...900
    /// How long a button on the device opens it.
    public static let standardTimeout: Duration = .seconds(900)

    private unowned let node: DeviceNode
    public private(set) var mode = Mode.closed
    /// What proves the passcode while the window is open.
    public private(set) var parameters: PairingParameters?
    /// The administrator that opened it; nil when it is closed, or was opened at the device itself.
    public private(set) var opener: (fabric: FabricIndex, vendor: VendorID)?
    /// When it closes; nil when it is closed, or open for as long as the device is unpaired.
    public private(set) var closes: ModelInstant?
    /// Attempts that have not succeeded since the window was opened.
    public private(set) var attempts = 0
    /// How long the window of a device that is in no fabric stays open after start; nil for as long as it is in none.
    public var initialDuration: Duration?

    private var timer: Token?

    init(node: DeviceNode) { self.node = node }

    public var isOpen: Bool { mode != .closed }

    // MARK: Opening and closing

    /// Somebody presses the button on the device: it can be paired with its own passcode.
    /// - Throws: BUSY when the window is open already or the fail-safe is armed, INVALID_IN_STATE when the device has no identity.
    public func openBasic(for duration: Duration? = standardTimeout) throws(Status) {
        try openBasic(for: duration, opener: nil)
    }

    func openBasic(for duration: Duration?, opener: (fabric: FabricIndex, vendor: VendorID)?) throws(Status) {
        guard let identity = node.commissioning.identity else { throw Status(.invalidInState, "the device has no passcode") }
        try open(.basic, identity.pairing, for: duration, opener)
    }

    func openEnhanced(
        _ parameters: PairingParameters, for duration: Duration, opener: (fabric: FabricIndex, vendor: VendorID)
    ) throws(Status) {
        try open(.enhanced, parameters, for: duration, opener)
    }

    private func open(
        _ mode: Mode, _ parameters: PairingParameters, for duration: Duration?, _ opener: (fabric: FabricIndex, vendor: VendorID)?
    ) throws(Status) {
        guard !isOpen, !node.commissioning.failSafe.isArmed else {
            throw Status(.busy, isOpen ? "the commissioning window is open already" : "somebody is commissioning the device")
        }
        (self.mode, self.parameters, self.opener, attempts) = (mode, parameters, opener, 0)
        if let duration {
            closes = node.environment.now + duration
            timer = node.after(duration) { [weak self] in
                self?.timer = nil
                self?.close()
            }
        }
        changed()
    }

    /// The device starts, or is in no fabric any more: whoever has its passcode may pair it.
    func openInitially() {
        let fabrics = node.commissioning.fabrics
        guard fabrics.fabrics.isEmpty, !fabrics.hasUnreadable, !isOpen else { return }
        try? openBasic(for: initialDuration)
    }

    /// Closes the window. A pairing that has begun goes on.
    public func close() {
        guard isOpen else { return }
        reset()
        changed()
    }

    /// The device starts anew.
    func reset() {
        (mode, parameters, opener, closes, attempts) = (.closed, nil, nil, nil, 0)
        if let timer { node.cancel(timer) }
        timer = nil
    }

    /// The fabric whose administrator opened it is gone; the window stays (Matter Core, 11.19.7.2).
    func openerRemoved(_ fabric: FabricIndex) {
        guard let vendor = opener?.vendor, opener?.fabric == fabric else { return }
        opener = (0, vendor)
        node.cluster(AdministratorCommissioningCluster.self, at: 0)?.windowChanged()
    }

    private func changed() {
        node.cluster(AdministratorCommissioningCluster.self, at: 0)?.windowChanged()
        node.host?.commissioningWindowChanged()
    }

    // MARK: Attempts

    /// Pake2 is about to be sent, from which the peer can check one guess of the passcode: the attempt counts.
    /// - Returns: false when it must not be sent.
    public func attemptBegan() -> Bool {
        guard isOpen, attempts < Self.maximumAttempts else { return false }
        attempts += 1
        return true
    }

    /// The peer has proven the passcode: the attempt does not count after all.
    public func attemptSucceeded() { attempts = max(0, attempts - 1) }

    /// The peer does not know the passcode, or is gone. The last attempt closes the window.
    public func attemptFailed() {
        if attempts >= Self.maximumAttempts { close() }
    }
}
