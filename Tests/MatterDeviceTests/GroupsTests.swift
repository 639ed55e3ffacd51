import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Groups and their keys (Matter Core, 11.2; Matter Application Clusters, 1.3).
@Suite struct GroupsTests {
    typealias Keys = GroupKeyManagement
    typealias KeySet = GroupKeyManagement.GroupKeySetStruct

    private static func keySet(_ id: UInt16, keys: [(UInt8, UInt64)] = [(1, 10)]) -> KeySet {
        func key(_ index: Int) -> Nullable<[UInt8]> {
            Nullable(index < keys.count ? [UInt8](repeating: keys[index].0, count: 16) : nil)
        }
        func start(_ index: Int) -> Nullable<UInt64> { Nullable(index < keys.count ? keys[index].1 : nil) }
        return KeySet(
            groupKeySetID: id, groupKeySecurityPolicy: .trustFirst, epochKey0: key(0), epochStartTime0: start(0),
            epochKey1: key(1),
            epochStartTime1: start(1), epochKey2: key(2), epochStartTime2: start(2))
    }

    /// A commissioned device with two endpoints that can be in groups.
    private static func prepare(_ bench: Bench) throws -> SessionContext {
        _ = try bench.makeRoot()
        for endpoint: EndpointID in [1, 2] {
            try bench.add(Groups.id, at: endpoint)
            try bench.add(Identify.id, at: endpoint)
        }
        return try bench.commission(Administrator(fabric: 1))
    }

    private static func map(_ bench: Bench, _ entries: [(GroupID, UInt16)], _ peer: SessionContext) throws {
        try bench.write(
            Keys.id, Keys.Attributes.groupKeyMap, entries.map { Keys.GroupKeyMapStruct(groupId: $0.0, groupKeySetID: $0.1) },
            at: 0,
            as: peer)
    }

    @Test func aGroupNeedsAKey() async throws {
        try await Bench.run { bench in
            let peer = try Self.prepare(bench)
            func add(_ group: GroupID, _ name: String = "", at endpoint: EndpointID = 1) throws -> StatusCode {
                try bench.invoke(Groups.AddGroup(groupID: group, groupName: name), at: endpoint, .init(peer: peer)).status
            }
            #expect(try add(0x101) == .unsupportedAccess)
            try Self.map(bench, [(0x101, 417), (0x102, 417)], peer)
            #expect(try add(0x101) == .unsupportedAccess, "the key set is not there")
            try bench.invoke(Keys.KeySetWrite(groupKeySet: Self.keySet(417)), at: 0, .init(peer: peer))
            #expect(try add(0) == .constraintError)
            #expect(try add(0x101, "seventeen letters") == .constraintError)
            #expect(try add(0x101, "sixteen letters!") == .success)
            #expect(try add(0x102, "two") == .success)
            #expect(try add(0x101, "renamed") == .success)
            #expect(try add(0x103) == .unsupportedAccess)
            #expect(try add(0x101, "renamed", at: 2) == .success)

            let view = try bench.invoke(Groups.ViewGroup(groupID: 0x101), .init(peer: peer))
            #expect(view.status == .success && view.groupName == "renamed")
            #expect(try bench.invoke(Groups.ViewGroup(groupID: 0), .init(peer: peer)).status == .constraintError)
            #expect(try bench.invoke(Groups.ViewGroup(groupID: 9), .init(peer: peer)).status == .notFound)
            #expect(try bench.invoke(Groups.ViewGroup(groupID: 0x101), .init(peer: .node(1, fabric: 2))).status == .notFound)

            func membership(_ wanted: [GroupID]) throws -> [GroupID] {
                let answer = try bench.invoke(Groups.GetGroupMembership(groupList: wanted), .init(peer: peer))
                #expect(answer.capacity.isNull)
                return answer.groupList
            }
            #expect(try membership([]) == [0x101, 0x102])
            #expect(try membership([0x102, 0x999]) == [0x102])
            #expect(try membership([0x999]) == [])

            let table = try [Keys.GroupInfoMapStruct](tlv: bench.read(Keys.id, Keys.Attributes.groupTable, at: 0))
            #expect(
                table == [
                    .init(groupId: 0x101, endpoints: [1, 2], groupName: "renamed", fabricIndex: 1),
                    .init(groupId: 0x102, endpoints: [1], groupName: "two", fabricIndex: 1),
                ])

            #expect(try bench.invoke(Groups.RemoveGroup(groupID: 0), .init(peer: peer)).status == .constraintError)
            #expect(try bench.invoke(Groups.RemoveGroup(groupID: 4), .init(peer: peer)).status == .notFound)
            #expect(try bench.invoke(Groups.RemoveGroup(groupID: 0x102), .init(peer: peer)).status == .success)
            #expect(try membership([]) == [0x101])
            try bench.invoke(Groups.RemoveAllGroups(), .init(peer: peer))
            #expect(try membership([]) == [])
            #expect(bench.node.cluster(GroupsCluster.self, at: 2)?.isMember(of: 0x101, 1) == true)
        }
    }

    @Test func anIdentifyingEndpointJoins() async throws {
        try await Bench.run { bench in
            let peer = try Self.prepare(bench)
            try bench.invoke(Keys.KeySetWrite(groupKeySet: Self.keySet(1)), at: 0, .init(peer: peer))
            try Self.map(bench, [(5, 1)], peer)
            try bench.invoke(Identify.Identify(identifyTime: 10), at: 1, .init(peer: peer))
            for endpoint: EndpointID in [1, 2] {
                try bench.invoke(Groups.AddGroupIfIdentifying(groupID: 5, groupName: "x"), at: endpoint, .init(peer: peer))
            }
            #expect(bench.node.cluster(GroupsCluster.self, at: 1)?.isMember(of: 5, 1) == true)
            #expect(bench.node.cluster(GroupsCluster.self, at: 2)?.isMember(of: 5, 1) == false)
            #expect(
                status { try bench.invoke(Groups.AddGroupIfIdentifying(groupID: 6, groupName: ""), at: 1, .init(peer: peer)) }
                    == .unsupportedAccess)
            #expect(
                status { try bench.invoke(Groups.AddGroupIfIdentifying(groupID: 0, groupName: ""), at: 1, .init(peer: peer)) }
                    == .constraintError)
        }
    }

    @Test func membershipsAndKeysSurviveARestartAndGoWithTheFabric() async throws {
        try await Bench.run { bench in
            let peer = try Self.prepare(bench)
            try bench.invoke(Keys.KeySetWrite(groupKeySet: Self.keySet(1)), at: 0, .init(peer: peer))
            try Self.map(bench, [(5, 1)], peer)
            _ = try bench.invoke(Groups.AddGroup(groupID: 5, groupName: "five"), .init(peer: peer))
            bench.restart { node in
                node.addRootEndpoint(identity: Bench.identity, attestation: nil)
                if let groups = ClusterFactory.make(Groups.id, endpoint: 1, node: node) {
                    node.add(EndpointServer(id: 1, deviceTypes: [], clusters: [groups]))
                }
            }
            let groups = try #require(bench.node.cluster(GroupsCluster.self, at: 1))
            let keys = try #require(bench.node.cluster(GroupKeyManagementCluster.self, at: 0))
            #expect(groups.memberships == [.init(fabric: 1, group: 5, name: "five")])
            #expect(keys.hasKey(for: 5, of: 1) && keys.keySet(for: 5, of: 1)?.groupKeySetID == 1)
            bench.node.commissioning.leave(1)
            #expect(groups.memberships.isEmpty && !keys.hasKey(for: 5, of: 1))
            #expect(try bench.read(Keys.id, Keys.Attributes.groupKeyMap, at: 0) == .array([]))
        }
    }

    // MARK: Keys

    @Test func keySetsAreWrittenAndNeverRead() async throws {
        try await Bench.run { bench in
            let peer = try Self.prepare(bench)
            try bench.invoke(
                Keys.KeySetWrite(groupKeySet: Self.keySet(9, keys: [(1, 10), (2, 20), (3, 30)])), at: 0, .init(peer: peer))
            let read = try bench.invoke(Keys.KeySetRead(groupKeySetID: 9), at: 0, .init(peer: peer)).groupKeySet
            #expect(read.epochKey0.isNull && read.epochKey1.isNull && read.epochKey2.isNull)
            #expect(read.epochStartTime0.value == 10 && read.epochStartTime2.value == 30)
            #expect(try bench.invoke(Keys.KeySetReadAllIndices(), at: 0, .init(peer: peer)).groupKeySetIDs == [0, 9])
            #expect(status { try bench.invoke(Keys.KeySetRead(groupKeySetID: 8), at: 0, .init(peer: peer)) } == .notFound)
            #expect(
                status { try bench.invoke(Keys.KeySetRead(groupKeySetID: 9), at: 0, .init(peer: .node(1, fabric: 2))) }
                    == .notFound)
            // The identity protection key can be replaced, not removed.
            try bench.invoke(Keys.KeySetWrite(groupKeySet: Self.keySet(0, keys: [(7, 10)])), at: 0, .init(peer: peer))
            #expect(
                bench.node.cluster(GroupKeyManagementCluster.self, at: 0)?.keySet(0, of: 1)?.epochKey0.value
                    == [UInt8](repeating: 7, count: 16))
            #expect(status { try bench.invoke(Keys.KeySetRemove(groupKeySetID: 0), at: 0, .init(peer: peer)) } == .invalidCommand)
            #expect(status { try bench.invoke(Keys.KeySetRemove(groupKeySetID: 8), at: 0, .init(peer: peer)) } == .notFound)
        }
    }

    @Test func keysComeInOrder() async throws {
        try await Bench.run { bench in
            let peer = try Self.prepare(bench)
            func write(_ change: (inout KeySet) -> Void) -> StatusCode? {
                var set = Self.keySet(9, keys: [(1, 10), (2, 20), (3, 30)])
                change(&set)
                return status { try bench.invoke(Keys.KeySetWrite(groupKeySet: set), at: 0, .init(peer: peer)) }
            }
            #expect(write { $0.epochKey0 = .null } == .invalidCommand)
            #expect(write { ($0.epochKey0, $0.epochStartTime0) = (.null, .null) } == .invalidCommand)
            #expect(write { $0.epochStartTime0 = .value(0) } == .invalidCommand)
            #expect(write { $0.epochStartTime1 = .value(10) } == .invalidCommand)
            #expect(write { $0.epochStartTime2 = .value(20) } == .invalidCommand)
            #expect(write { ($0.epochKey1, $0.epochStartTime1) = (.null, .null) } == .invalidCommand)
            #expect(write { $0.epochStartTime2 = .null } == .invalidCommand)
            #expect(write { $0.epochKey1 = .value([1]) } == .constraintError)
            #expect(write { $0.groupKeySecurityPolicy = .cacheAndSync } == .invalidCommand)
            #expect(try bench.invoke(Keys.KeySetReadAllIndices(), at: 0, .init(peer: peer)).groupKeySetIDs == [0])
        }
    }

    @Test func limits() async throws {
        try await Bench.run { bench in
            let peer = try Self.prepare(bench)
            // Three, with the identity protection key's.
            for id: UInt16 in 1...2 {
                try bench.invoke(Keys.KeySetWrite(groupKeySet: Self.keySet(id)), at: 0, .init(peer: peer))
            }
            #expect(
                status { try bench.invoke(Keys.KeySetWrite(groupKeySet: Self.keySet(3)), at: 0, .init(peer: peer)) }
                    == .resourceExhausted)
            try Self.map(bench, (1...12).map { (GroupID($0), 1) }, peer)
            #expect(status { try Self.map(bench, (1...13).map { (GroupID($0), 1) }, peer) } == .resourceExhausted)
            #expect(status { try Self.map(bench, [(1, 0)], peer) } == .constraintError)
            #expect(status { try Self.map(bench, [(1, 1), (0, 1)], peer) } == .constraintError, "group 0 is none")
            #expect(status { try Self.map(bench, [(1, 1), (1, 1)], peer) } == .constraintError)
            try Self.map(bench, [(1, 1), (1, 2)], peer)
            // A key set that goes takes the groups' claim to it along.
            try Self.map(bench, [(1, 1), (2, 2)], peer)
            try bench.invoke(Keys.KeySetRemove(groupKeySetID: 1), at: 0, .init(peer: peer))
            let rest = try [Keys.GroupKeyMapStruct](tlv: bench.read(Keys.id, Keys.Attributes.groupKeyMap, at: 0))
            #expect(rest.map(\.groupId) == [2])
        }
    }
}
