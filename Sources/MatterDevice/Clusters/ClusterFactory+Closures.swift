import MatterModel

extension ClusterFactory {
    static let closureMakers: [ClusterID: Maker] = [
        DoorLock.id: { DoorLockCluster(endpoint: $0, node: $1, configuration: $2) },
        WindowCovering.id: { WindowCoveringCluster(endpoint: $0, node: $1, configuration: $2) },
    ]

    static let closureParameters: [ClusterID: [ClusterParameter]] = [
        WindowCovering.id: [
            ClusterParameter("travelTime", .seconds(0.1...3600), "how long the whole way of the lift takes (20)"),
            ClusterParameter("tiltTime", .seconds(0.1...3600), "how long the whole way of the tilt takes (2)"),
        ],
        DoorLock.id: [
            ClusterParameter(
                "users",
                .list(
                    .structure([
                        ClusterParameter("name", .text, "the user's name"),
                        ClusterParameter("pins", .list(.text), "PIN codes"),
                        ClusterParameter("rfids", .list(.octets), "RFID codes"),
                        ClusterParameter("type", .unsigned(0...9), "UserTypeEnum (0, unrestricted)"),
                        ClusterParameter("rule", .unsigned(0...2), "CredentialRuleEnum (0, single)"),
                    ])), "users that the lock has when it is new"),
            ClusterParameter("latchTime", .seconds(0...60), "how long a lock with Unbolting pulls the latch when it is unlocked (1)"),
            ClusterParameter("readOnly", .list(.text), "attributes that nobody may write, of those whose write access is optional"),
        ],
    ]
}
