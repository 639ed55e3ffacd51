import MatterInteraction
import MatterMessage
import MatterModel

/// Who may do what, in the form that every request is checked against (Matter Core, 9.10.5). The Access Control cluster fills it in;
/// a change takes effect at once.
public final class AccessControlList: AccessDecision {
    /// An entry as the cluster's ACL attribute holds it.
    public typealias Entry = AccessControl.AccessControlEntryStruct

    /// One entry, with what can be decided beforehand decided.
    private struct Grant {
        /// Bit n is set when the privilege with raw value n is granted.
        let privileges: UInt8
        let authMode: AuthMode
        /// Empty for everybody.
        let subjects: [UInt64]
        /// Empty for everything.
        let targets: [Target]
    }

    private struct Target {
        let cluster: ClusterID?
        let endpoint: EndpointID?
        let deviceType: DeviceTypeID?

        func covers(_ cluster: ClusterID, _ endpoint: EndpointServer) -> Bool {
            if let wanted = self.cluster, wanted != cluster { return false }
            if let wanted = self.endpoint, wanted != endpoint.id { return false }
            if let wanted = deviceType, !endpoint.deviceTypes.contains(where: { $0.type == wanted }) { return false }
            return true
        }
    }

    private var grants: [UInt8: [Grant]] = [:]

    public init() {}

    /// Puts a fabric's entries in place of those it had.
    public func set(_ entries: [Entry], of fabric: FabricIndex) {
        let compiled = entries.compactMap(Self.compile)
        grants[fabric.rawValue] = compiled.isEmpty ? nil : compiled
    }

    private static func compile(_ entry: Entry) -> Grant? {
        guard let privilege = Privilege(rawValue: entry.privilege.rawValue),
            let authMode = AuthMode(rawValue: entry.authMode.rawValue)
        else { return nil }
        let targets = (entry.targets.value ?? []).map {
            Target(cluster: $0.cluster.value, endpoint: $0.endpoint.value, deviceType: $0.deviceType.value)
        }
        return Grant(
            privileges: granted(by: privilege), authMode: authMode, subjects: entry.subjects.value ?? [], targets: targets)
    }

    /// Each privilege grants the weaker ones, except that only Administer grants Proxy View to others than its holder
    /// (Matter Core, 9.10.5.2).
    static func granted(by privilege: Privilege) -> UInt8 {
        let all: [Privilege] =
            switch privilege {
            case .view: [.view]
            case .proxyView: [.view, .proxyView]
            case .operate: [.view, .operate]
            case .manage: [.view, .operate, .manage]
            case .administer: Privilege.allCases
            }
        return all.reduce(0) { $0 | 1 << $1.rawValue }
    }

    public func allows(
        _ privilege: Privilege, on cluster: ClusterID, at endpoint: EndpointServer, for peer: SessionContext
    ) -> Bool {
        switch peer.authMode {
        case nil: return false
        // Whoever has proven the passcode administers the device until commissioning is complete (Matter Core, 6.6.2).
        case .pase: return true
        case .case, .group: break
        }
        guard peer.fabricIndex != 0, let grants = grants[peer.fabricIndex] else { return false }
        let bit: UInt8 = 1 << privilege.rawValue
        for grant in grants where grant.privileges & bit != 0 && grant.authMode == peer.authMode {
            guard grant.subjects.isEmpty || grant.subjects.contains(where: { Self.matches($0, peer) }) else { continue }
            if grant.targets.isEmpty || grant.targets.contains(where: { $0.covers(cluster, endpoint) }) { return true }
        }
        return false
    }

    private static func matches(_ subject: UInt64, _ peer: SessionContext) -> Bool {
        if peer.authMode == .group { return subject == peer.peerNodeID & 0xFFFF }
        if subject == peer.peerNodeID { return true }
        guard Subject.isTag(subject), !peer.authenticatedTags.isEmpty else { return false }
        let wanted = UInt32(truncatingIfNeeded: subject)
        return peer.authenticatedTags.contains { $0 >> 16 == wanted >> 16 && $0 & 0xFFFF >= wanted & 0xFFFF }
    }
}

/// What can be the subject of an access control entry (Matter Core, 6.6.2.1 and 2.5.5).
public enum Subject {
    /// A node that can have a session: the operational range.
    public static func isOperationalNode(_ subject: UInt64) -> Bool { (1...0xFFFF_FFEF_FFFF_FFFF).contains(subject) }
    /// A CASE Authenticated Tag, whatever its version.
    static func isTag(_ subject: UInt64) -> Bool { subject >> 32 == 0xFFFF_FFFD }
    /// A CASE Authenticated Tag with a version above 0.
    public static func isValidTag(_ subject: UInt64) -> Bool { isTag(subject) && subject & 0xFFFF != 0 }
    /// A group, 1 to 65535.
    public static func isGroup(_ subject: UInt64) -> Bool { (1...0xFFFF).contains(subject) }
}
