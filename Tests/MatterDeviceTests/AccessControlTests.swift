import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Who may do what (Matter Core, 9.10).
@Suite struct AccessControlTests {
    typealias Spec = AccessControl
    typealias Entry = AccessControl.AccessControlEntryStruct

    private static func entry(
        _ privilege: Spec.AccessControlEntryPrivilegeEnum, _ mode: Spec.AccessControlEntryAuthModeEnum = .case,
        _ subjects: [UInt64]? = nil, _ targets: [Spec.AccessControlTargetStruct]? = nil
    ) -> Entry {
        Entry(privilege: privilege, authMode: mode, subjects: Nullable(subjects), targets: Nullable(targets))
    }

    private static func target(
        cluster: ClusterID? = nil, endpoint: EndpointID? = nil, type: DeviceTypeID? = nil
    ) -> Spec.AccessControlTargetStruct {
        .init(cluster: Nullable(cluster), endpoint: Nullable(endpoint), deviceType: Nullable(type))
    }

    // MARK: Decisions

    @Test func privilegesIncludeTheWeakerOnes() {
        let granted: [(Privilege, [Privilege])] = [
            (.view, [.view]), (.proxyView, [.view, .proxyView]), (.operate, [.view, .operate]),
            (.manage, [.view, .operate, .manage]), (.administer, [.view, .proxyView, .operate, .manage, .administer]),
        ]
        let endpoint = EndpointServer(id: 1, deviceTypes: [], clusters: [])
        for (privilege, expected) in granted {
            let list = AccessControlList()
            list.set([Self.entry(.init(rawValue: privilege.rawValue))], of: 1)
            for wanted in Privilege.allCases {
                #expect(
                    list.allows(wanted, on: 6, at: endpoint, for: .node(5)) == expected.contains(wanted),
                    "\(privilege) and \(wanted)")
            }
        }
    }

    @Test func subjectsAreNodesTagsAndGroups() {
        let endpoint = EndpointServer(id: 1, deviceTypes: [], clusters: [])
        func allows(_ subjects: [UInt64]?, _ mode: Spec.AccessControlEntryAuthModeEnum, _ peer: SessionContext) -> Bool {
            let list = AccessControlList()
            list.set([Self.entry(.operate, mode, subjects)], of: 1)
            return list.allows(.operate, on: 6, at: endpoint, for: peer)
        }
        #expect(allows(nil, .case, .node(5)) && allows([], .case, .node(5)))
        #expect(allows([4, 5], .case, .node(5)) && !allows([4], .case, .node(5)))
        // A tag of the same identifier with the same or a later version.
        let tag: UInt64 = 0xFFFF_FFFD_ABCD_0002
        #expect(allows([tag], .case, .node(5, tags: [0xABCD_0002])))
        #expect(allows([tag], .case, .node(5, tags: [0x1111_0009, 0xABCD_0003])))
        #expect(!allows([tag], .case, .node(5, tags: [0xABCD_0001])))
        #expect(!allows([tag], .case, .node(5, tags: [0xABCE_0002])))
        #expect(!allows([tag], .case, .node(5)))
        // Groups only through entries for groups.
        #expect(allows([7], .group, .group(7)) && allows(nil, .group, .group(7)))
        #expect(!allows([8], .group, .group(7)) && !allows([7], .case, .group(7)) && !allows([7], .group, .node(7)))
        // Nobody, and somebody of no fabric.
        #expect(!allows(nil, .case, SessionContext()))
        #expect(!allows(nil, .case, .node(5, fabric: 0)))
        #expect(!allows(nil, .case, .node(5, fabric: 2)), "another fabric")
        // Whoever is pairing administers without an entry.
        #expect(AccessControlList().allows(.administer, on: 6, at: endpoint, for: .pairing()))
    }

    @Test func targetsNarrowAnEntry() async throws {
        let endpoints = [
            EndpointServer(id: 1, deviceTypes: [(0x0100, 3)], clusters: []),
            EndpointServer(id: 2, deviceTypes: [(0x000A, 3)], clusters: []),
        ]
        // Which of (endpoint 1, cluster 6), (1, 8), (2, 6), (2, 8) is granted.
        let cases: [([Spec.AccessControlTargetStruct]?, [Bool])] = [
            (nil, [true, true, true, true]), ([Self.target(cluster: 6)], [true, false, true, false]),
            ([Self.target(endpoint: 2)], [false, false, true, true]),
            ([Self.target(cluster: 8, endpoint: 1)], [false, true, false, false]),
            ([Self.target(type: 0x000A)], [false, false, true, true]),
            ([Self.target(cluster: 6, type: 0x0100)], [true, false, false, false]),
            ([Self.target(cluster: 8, endpoint: 1), Self.target(cluster: 6, endpoint: 2)], [false, true, true, false]),
            ([Self.target(type: 0x0777)], [false, false, false, false]),
        ]
        for (targets, expected) in cases {
            let list = AccessControlList()
            list.set([Self.entry(.operate, .case, [5], targets)], of: 1)
            let found = endpoints.flatMap { endpoint in
                [ClusterID(6), 8].map { list.allows(.operate, on: $0, at: endpoint, for: .node(5)) }
            }
            #expect(found == expected, "\(String(describing: targets))")
        }
    }

    // MARK: Writing

    private static func write(_ bench: Bench, _ entries: [Entry], as peer: SessionContext) throws {
        try bench.write(Spec.id, Spec.Attributes.acl, entries, at: 0, as: peer)
    }

    @Test func aWriteTakesEffectAtOnceAndOnlyForItsFabric() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let first = try bench.commission(Administrator(fabric: 1))
            try bench.node.commissioning.window.openBasic()
            let second = try bench.commission(Administrator(fabric: 2))
            let root = try #require(bench.node.endpoint(0))
            let guest = SessionContext.node(0x77)
            #expect(!bench.node.allows(.view, on: 0x28, at: root, for: guest))
            let admin = Self.entry(.administer, .case, [first.peerNodeID])
            try Self.write(bench, [admin, Self.entry(.view, .case, [0x77])], as: first)
            #expect(bench.node.allows(.view, on: 0x28, at: root, for: guest))
            #expect(!bench.node.allows(.operate, on: 0x28, at: root, for: guest))
            #expect(!bench.node.allows(.view, on: 0x28, at: root, for: .node(0x77, fabric: 2)))
            #expect(bench.node.allows(.administer, on: 0x28, at: root, for: second), "the other fabric's entries stay")

            // Whatever fabric the writer puts there, it is the writer's.
            var foreign = Self.entry(.administer, .case, [0x66])
            foreign.fabricIndex = 2
            try Self.write(bench, [admin, foreign], as: first)
            #expect(!bench.node.allows(.view, on: 0x28, at: root, for: .node(0x66, fabric: 2)))
            #expect(bench.node.allows(.administer, on: 0x28, at: root, for: .node(0x66)))
            #expect(!bench.node.allows(.view, on: 0x28, at: root, for: guest))

            // A list can be emptied, its owner then has no rights any more.
            try Self.write(bench, [], as: first)
            #expect(!bench.node.allows(.view, on: 0x28, at: root, for: first))
            #expect(bench.node.allows(.administer, on: 0x28, at: root, for: second))
        }
    }

    @Test func entriesThatTheSpecificationForbids() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            let before = try bench.read(Spec.id, Spec.Attributes.acl, at: 0)
            let forbidden: [(String, Entry)] = [
                ("pase", Self.entry(.view, .pase)), ("an administering group", Self.entry(.administer, .group, [1])),
                ("node 0", Self.entry(.view, .case, [0])), ("a reserved node", Self.entry(.view, .case, [0xFFFF_FFFF_FFFF_FFFF])),
                ("a tag of version 0", Self.entry(.view, .case, [0xFFFF_FFFD_0001_0000])),
                ("a passcode as subject", Self.entry(.view, .case, [0xFFFF_FFFB_0000_0000])),
                ("group 0", Self.entry(.view, .group, [0])), ("a node as group", Self.entry(.view, .group, [0x1_0000])),
                ("no privilege", Self.entry(.init(rawValue: 9))), ("no auth mode", Self.entry(.view, .init(rawValue: 9))),
                ("an empty target", Self.entry(.view, .case, nil, [Self.target()])),
                ("endpoint and type", Self.entry(.view, .case, nil, [Self.target(endpoint: 1, type: 0x0100)])),
                ("no endpoint", Self.entry(.view, .case, nil, [Self.target(endpoint: 0xFFFF)])),
                ("no cluster", Self.entry(.view, .case, nil, [Self.target(cluster: 0x8000)])),
                ("a vendor's standard cluster", Self.entry(.view, .case, nil, [Self.target(cluster: 0xFFF1_0006)])),
                ("no device type", Self.entry(.view, .case, nil, [Self.target(type: 0xC000)])),
            ]
            let admin = Self.entry(.administer, .case, [peer.peerNodeID])
            for (name, entry) in forbidden {
                #expect(status { try Self.write(bench, [admin, entry], as: peer) } == .constraintError, "\(name)")
            }
            #expect(status { try bench.write(Spec.id, Spec.Attributes.acl, [UInt16(1)], at: 0, as: peer) } == .invalidDataType)
            let full = (1...5).map { Self.entry(.view, .case, [$0]) }
            #expect(status { try Self.write(bench, full, as: peer) } == .resourceExhausted)
            #expect(
                status { try Self.write(bench, [Self.entry(.view, .case, [1, 2, 3, 4, 5])], as: peer) } == .resourceExhausted)
            let targets = (1...4).map { Self.target(endpoint: EndpointID($0)) }
            #expect(status { try Self.write(bench, [Self.entry(.view, .case, nil, targets)], as: peer) } == .resourceExhausted)
            #expect(try bench.read(Spec.id, Spec.Attributes.acl, at: 0) == before, "nothing of it was taken over")
            let allowed = [
                admin, Self.entry(.manage, .group, [1, 0xFFFF]), Self.entry(.operate, .case, [0xFFFF_FFFD_0001_0001]),
                Self.entry(.view, .case, nil, [Self.target(cluster: 0xFFF1_FC00), Self.target(type: 0x0100)]),
            ]
            try Self.write(bench, allowed, as: peer)
            #expect(try [Entry](tlv: bench.read(Spec.id, Spec.Attributes.acl, at: 0)).count == 4)
        }
    }

    @Test func changesAreEventsWithTheirAuthor() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            let added = try #require(bench.events(Spec.id, Spec.Events.accessControlEntryChanged).first)
            #expect(
                added.fields[1] == .null && added.fields[2] == .unsigned(0) && added.fields[3] == Spec.ChangeTypeEnum.added.tlv)
            #expect(added.fabricIndex == 1 && added.fields[254] == .unsigned(1))

            let admin = Self.entry(.administer, .case, [peer.peerNodeID])
            let view = Self.entry(.view, .case, [9])
            try Self.write(bench, [admin, view], as: peer)
            try Self.write(bench, [admin, Self.entry(.operate, .case, [9])], as: peer)
            try Self.write(bench, [admin], as: peer)
            let events = bench.events(Spec.id, Spec.Events.accessControlEntryChanged).dropFirst()
            let kinds = try events.map { try Spec.ChangeTypeEnum(tlv: $0.fields[3] ?? .null) }
            #expect(kinds == [.added, .changed, .removed])
            #expect(events.allSatisfy { $0.fields[1] == .unsigned(peer.peerNodeID) && $0.fields[2] == .null })
            #expect(try events.map { try Entry(tlv: $0.fields[4] ?? .null).privilege } == [.view, .operate, .operate])
        }
    }

    @Test func extensionsAreListsOfAProfile() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            func write(_ data: [[UInt8]]) throws {
                try bench.write(
                    Spec.id, Spec.Attributes.extension, data.map { Spec.AccessControlExtensionStruct(data: $0) }, at: 0, as: peer)
            }
            let good = TLVValue.list([.init(.fullyQualified(vendor: 0xFFF1, profile: 1, tag: 1), .unsigned(3))]).encoded()
            try write([good])
            #expect(bench.events(Spec.id, Spec.Events.accessControlExtensionChanged).count == 1)
            #expect(status { try write([good, good]) } == .constraintError)
            let long = TLVValue.list([
                .init(.fullyQualified(vendor: 0xFFF1, profile: 1, tag: 1), .octets([UInt8](repeating: 0, count: 128)))
            ]).encoded()
            for bad in [
                [], [0x17], good + [0], long, TLVValue.structure([]).encoded(),
                TLVValue.list([.init(.context(1), .null)]).encoded(),
                TLVValue.list([]).encoded(tag: .context(1)),
            ] { #expect(status { try write([bad]) } == .constraintError) }
            bench.restart { node in
                node.addRootEndpoint(identity: Bench.identity, attestation: nil)
            }
            let kept = try [Spec.AccessControlExtensionStruct](tlv: bench.read(Spec.id, Spec.Attributes.extension, at: 0))
            #expect(kept.map(\.data) == [good])
            try write([])
            #expect(try bench.read(Spec.id, Spec.Attributes.extension, at: 0) == .array([]))
        }
    }
}
