import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@Suite struct ReadTests {
    @Test(arguments: [1_024, 64_000]) func concretePathsSeveralAndInTheOrderAsked(_ maximum: Int) async throws {
        try await inLab(maximum: maximum) { lab in
            let peer = lab.connect()
            lab.toy.values[Toy.value] = .unsigned(7)
            let report = try await peer.client.read(
                ReadSelection(attributes: [path(1, Toy.secret), path(1, Toy.value), path(2, 0xFFFD)]))
            #expect(report.attributes.map(\.path.pattern) == [path(1, Toy.secret), path(1, Toy.value), path(2, 0xFFFD)])
            #expect(report[1, Toy.value] == .unsigned(7))
            #expect(report[2, 0xFFFD] == .unsigned(3))
            #expect(report.attributes[0].outcome == .value(100, .unsigned(1)))
            #expect(peer.serverSession.openExchanges == 0 && peer.session.openExchanges == 0)
        }
    }

    @Test func aWildcardFindsWhatExistsAndMayBeReadAndSaysNothingOfTheRest() async throws {
        try await inLab { lab in
            let (owner, guest) = (lab.connect(), lab.connect(fabric: 2, node: 0xB))
            let all = try await owner.client.read(ReadSelection(attributes: [path(1, nil)]))
            // All but the write-only one and the one that fails with a status of its own.
            #expect(all.attributes.count == 14)
            #expect(all.statuses == [.busy])
            #expect(all[1, Toy.writeOnly] == nil)
            #expect(all[1, 0xFFFB]?.array?.count == 15)
            let seen = try await guest.client.read(ReadSelection(attributes: [path(nil, nil, cluster: nil)]))
            #expect(seen.attributes.count == 3 * 13)  // without the secret
            #expect(seen[1, Toy.secret] == nil)
            let endpoints = try await owner.client.read(ReadSelection(attributes: [path(nil, Toy.value)]))
            #expect(endpoints.attributes.map(\.path.pattern.endpoint) == [0, 1, 2])
            let revisions = try await owner.client.read(ReadSelection(attributes: [path(nil, 0xFFFD, cluster: nil)]))
            #expect(revisions.attributes.count == 3)
            let none = try await owner.client.read(ReadSelection(attributes: [path(nil, 0x77), path(9, nil)]))
            #expect(none.attributes.isEmpty)
            let twice = try await owner.client.read(ReadSelection(attributes: [path(1, nil), path(1, nil)]))
            #expect(twice.attributes.count == 14)
            // Nothing at all is asked for: an empty report.
            #expect(try await owner.client.read(ReadSelection()).attributes.isEmpty)
        }
    }

    @Test func wildcardFlagsLeaveOut() async throws {
        try await inLab { lab in
            let quality = ClusterDefinition(
                id: 0x33, name: "Diagnostics", revision: 1, picsCode: "D",
                attributes: [
                    AttributeDefinition(0xFFF1_0000, "Own", TypeReference("uint8", .unsigned(bytes: 1)), conformance: .mandatory)
                ])
            lab.node.add(7, [ToyCluster(quality, endpoint: 7)])
            let peer = lab.connect()
            func read(_ pattern: AttributePathPattern, _ flags: WildcardPathFlags) async throws -> Set<AttributePathPattern> {
                var selection = ReadSelection(attributes: [pattern])
                selection.attributes[0].wildcardFlags = flags
                return Set(try await peer.client.read(selection).attributes.map(\.path.pattern))
            }
            let all = try await read(AttributePathPattern(), [])
            #expect(all.count == 3 * 14 + 6)
            #expect(try await read(AttributePathPattern(), .skipRootNode) == all.filter { $0.endpoint != 0 })
            #expect(try await read(AttributePathPattern(), .skipDiagnosticsClusters) == all.filter { $0.cluster != 0x33 })
            #expect(try await read(AttributePathPattern(), .skipCustomElements).count == 5)
            #expect(try await read(AttributePathPattern(7), .skipCustomElements).count == 5)
            #expect(try await read(path(1, nil), .skipGlobalAttributes).count == 9)
            #expect(try await read(path(1, nil), .skipAttributeList) == all.filter { $0.endpoint == 1 && $0.attribute != 0xFFFB })
            #expect(try await read(path(1, nil), .skipCommandLists).count == 12)
            #expect(try await read(path(1, nil), .skipFixedAttributes).count == 8)
            #expect(
                try await read(path(1, nil), .skipChangesOmittedAttributes)
                    == all.filter { $0.endpoint == 1 && $0.attribute != Toy.counter })
            // What a path names stays.
            #expect(try await read(path(nil, Toy.counter), .skipChangesOmittedAttributes).count == 3)
            #expect(try await read(path(0, nil), .skipRootNode).count == 14)
        }
    }

    @Test func everyWrongPathHasItsStatus() async throws {
        try await inLab { lab in
            let (owner, guest, stranger) = (lab.connect(), lab.connect(fabric: 2, node: 0xB), lab.connect(fabric: 9, node: 0xC))
            lab.node.reach[3] = [1]
            let limited = lab.connect(fabric: 3, node: 0xD)
            let wrong = [
                path(9, Toy.value), path(1, 0, cluster: 0x99), path(1, 0x55), path(1, Toy.writeOnly), path(1, Toy.secret),
                path(1, Toy.failing),
            ]
            let selection = ReadSelection(attributes: wrong)
            try await lab.settle()
            let denied = StatusCode.unsupportedAccess
            #expect(
                try await owner.client.read(selection).attributes.map(\.outcome) == [
                    .status(Status(.unsupportedEndpoint)), .status(Status(.unsupportedCluster)),
                    .status(Status(.unsupportedAttribute)),
                    .status(Status(.unsupportedRead)), .value(100, .unsigned(1)), .status(Status(.busy)),
                ])
            #expect(
                try await guest.client.read(selection).statuses == [
                    .unsupportedEndpoint, .unsupportedCluster, .unsupportedAttribute, .unsupportedRead, denied, .busy,
                ])
            // Who may not view does not learn what exists.
            #expect(try await stranger.client.read(selection).statuses == Array(repeating: denied, count: 6))
            #expect(
                try await limited.client.read(ReadSelection(attributes: [path(2, Toy.value), path(9, Toy.value), path(1, 0x55)]))
                    .statuses
                    == [denied, denied, .unsupportedAttribute])
            #expect(try await stranger.client.read(ReadSelection(attributes: [path(nil, nil)])).attributes.isEmpty)
        }
    }

    @Test func pathsThatNoRequestMayHoldEndItWithInvalidAction() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            var entry = ReadSelection(attributes: [path(1, Toy.list)])
            entry.attributes[0].listIndex = .entry(0)
            for selection in [
                ReadSelection(attributes: [path(1, Toy.value), path(1, 5, cluster: nil)]), entry,
                ReadSelection(events: [EventPathPattern(1, nil, 3)]),
            ] {
                let talk = peer.say(.readRequest, ReadRequest(selection).payload)
                try await lab.settle()
                #expect(talk.status == .invalidAction)
            }
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func dataVersionFiltersSkipWhatIsKnown() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            func count(_ attributes: [AttributePathPattern], _ filters: [DataVersionFilter]) async throws -> Int {
                try await peer.client.read(ReadSelection(attributes: attributes, dataVersionFilters: filters)).attributes.count
            }
            let known = DataVersionFilter(1, Toy.id, 100)
            try await lab.settle()
            #expect(try await count([path(nil, Toy.value)], [known]) == 2)
            #expect(try await count([path(1, Toy.value), path(1, Toy.readOnly)], [known]) == 0)
            #expect(try await count([path(1, Toy.value)], [DataVersionFilter(1, Toy.id, 99)]) == 1)
            #expect(try await count([path(1, Toy.value)], [known, DataVersionFilter(1, Toy.id, 99)]) == 1)  // claims two versions
            // A wrong path has its status whatever the reader knows.
            #expect(try await count([path(1, 0x55)], [known]) == 1)
            lab.toy.set(Toy.value, .unsigned(5))
            #expect(try await count([path(nil, Toy.value)], [known]) == 3)
        }
    }

    @Test func fabricScopedListsAndSensitiveFields() async throws {
        try await inLab { lab in
            func entry(_ fabric: UInt64) -> TLVValue {
                .structure([
                    TLVElement(1, .unsigned(10 + fabric)), TLVElement(2, .unsigned(20 + fabric)),
                    TLVElement(254, .unsigned(fabric)),
                ])
            }
            func stripped(_ fabric: UInt64) -> TLVValue {
                .structure([TLVElement(1, .unsigned(10 + fabric)), TLVElement(254, .unsigned(fabric))])
            }
            lab.toy.values[Toy.entries] = .array([entry(1), entry(2), entry(1)])
            let acl = try #require(DataModel.cluster(named: "AccessControl"))
            let owner = lab.connect()
            func read(_ peer: Peer, filtered: Bool) async throws -> TLVValue? {
                try await peer.client.read(ReadSelection(attributes: [path(1, Toy.entries)], isFabricFiltered: filtered))[
                    1, Toy.entries]
            }
            #expect(try await read(owner, filtered: true) == .array([entry(1), entry(1)]))
            #expect(try await read(owner, filtered: false) == .array([entry(1), stripped(2), entry(1)]))
            let pairing = lab.connect(fabric: 0, node: 0, mode: .pase)
            #expect(try await read(pairing, filtered: true) == .array([]))
            #expect(try await read(pairing, filtered: false) == .array([stripped(1), stripped(2), stripped(1)]))
            // The real definition: of another fabric's access control entry its index is all there is to see.
            let entries = TLVValue.array(
                [1, 2].map { (fabric: UInt64) in
                    .structure([
                        TLVElement(1, .unsigned(5)), TLVElement(2, .unsigned(2)), TLVElement(3, .array([.unsigned(0xA)])),
                        TLVElement(4, .null),
                        TLVElement(254, .unsigned(fabric)),
                    ])
                })
            lab.node.add(5, [ToyCluster(acl, endpoint: 5, values: [0: entries])])
            let report = try await owner.client.read(
                ReadSelection(attributes: [AttributePathPattern(5, 0x1F, 0)], isFabricFiltered: false))
            guard case .value(_, let value) = report.attributes.first?.outcome else { throw Status(.failure) }
            #expect(value.array?.first?[1] == .unsigned(5))
            #expect(value.array?.last == .structure([TLVElement(254, .unsigned(2))]))
        }
    }

    @Test func tooManyPathsAreRefused() async throws {
        var limits = InteractionServer.Limits()
        limits.paths = 9
        try await inLab(limits: limits) { lab in
            let peer = lab.connect()
            #expect(
                try await peer.client.read(ReadSelection(attributes: Array(repeating: path(1, 0), count: 9))).attributes.count
                    == 9)
            await #expect(throws: InteractionError.self) {
                try await peer.client.read(ReadSelection(attributes: Array(repeating: path(1, 0), count: 10)))
            }
            let talk = peer.say(
                .readRequest, ReadRequest(ReadSelection(attributes: Array(repeating: path(1, 0), count: 10))).payload)
            try await lab.settle()
            #expect(talk.status == .pathsExhausted)
        }
    }

    @Test func nobodyReadsBeforeHeHasProvenAnything() async throws {
        try await inLab { lab in
            let peer = lab.connect(fabric: 0, node: 0, mode: nil)
            let talk = peer.say(.readRequest, ReadRequest(ReadSelection(attributes: [path(1, 0)])).payload)
            try await lab.settle()
            #expect(talk.status == .unsupportedAccess)
        }
    }
}

@Suite struct ChunkTests {
    @Test func twoHundredEndpointsComeInChunksThatFit() async throws {
        for maximum in [1_024, 64_000] {
            try await inLab(maximum: maximum, endpoints: 200) { lab in
                let peer = lab.connect()
                var chunks = 0
                let check = peer.session.filter
                peer.session.filter = { isOutgoing, header, payload in
                    if !isOutgoing, header.opcode == InteractionOpcode.reportData.rawValue { chunks += 1 }
                    return check?(isOutgoing, header, payload) ?? true
                }
                let report = try await peer.client.read(ReadSelection(attributes: [AttributePathPattern()]))
                #expect(report.attributes.count == 200 * 14)
                #expect(Set(report.attributes.map(\.path)).count == 200 * 14)
                #expect(maximum == 64_000 ? 2...4 ~= chunks : 60...250 ~= chunks)
                #expect(peer.serverSession.openExchanges == 0)
                #expect(lab.timeline.pendingEntries == 0)
            }
        }
    }

    @Test func aListLongerThanAMessageComesEntryByEntry() async throws {
        try await inLab(maximum: 1_024) { lab in
            let peer = lab.connect()
            let entries = (0..<50).map { TLVValue.octets([UInt8](repeating: UInt8($0), count: 100)) }
            lab.toy.values[Toy.list] = .array(entries)
            let report = try await peer.client.read(
                ReadSelection(attributes: [path(1, Toy.value), path(1, Toy.list), path(1, Toy.readOnly)]))
            #expect(report.attributes.count == 3)
            #expect(report[1, Toy.list] == .array(entries))
            #expect(report[1, Toy.readOnly] == .unsigned(8))
            // On the wire: the emptied list first, then appended entries.
            let talk = peer.say(.readRequest, ReadRequest(ReadSelection(attributes: [path(1, Toy.list)])).payload)
            try await lab.settle()
            let first = try #require(talk.reports.first)
            #expect(first.moreChunks && !first.suppressesResponse)
            #expect(first.attributes[0].outcome == .value(100, .array([])))
            #expect(first.attributes[1].path.listIndex == .append)
            #expect(first.attributes[1].outcome == .value(100, entries[0]))
        }
    }

    @Test func anEntryLongerThanAMessageIsSaidToBeSoAndTheRestComes() async throws {
        try await inLab(maximum: 1_024) { lab in
            let peer = lab.connect()
            let small = TLVValue.octets([1, 2, 3])
            lab.toy.values[Toy.list] = .array([small, .octets([UInt8](repeating: 9, count: 2_000)), small, small])
            let report = try await peer.client.read(ReadSelection(attributes: [path(1, Toy.list)]))
            #expect(report[1, Toy.list] == .array([small, small, small]))
            #expect(report.statuses == [.resourceExhausted])
            lab.toy.values[Toy.value] = .octets([UInt8](repeating: 9, count: 2_000))
            let plain = try await peer.client.read(ReadSelection(attributes: [path(1, Toy.value), path(1, Toy.readOnly)]))
            #expect(plain.statuses == [.resourceExhausted])
            #expect(plain[1, Toy.readOnly] == .unsigned(8))
        }
    }

    @Test func eventsThatFindNoRoomBehindAttributesComeInTheNextMessage() async throws {
        try await inLab(maximum: 1_024) { lab in
            let peer = lab.connect()
            lab.toy.values[Toy.value] = .octets([UInt8](repeating: 1, count: 600))
            let fields = TLVValue.structure([TLVElement(0, .octets([UInt8](repeating: 2, count: 500)))])
            lab.toy.record(Toy.info, fields)
            lab.toy.record(Toy.info, .structure([TLVElement(0, .octets([UInt8](repeating: 3, count: 1_500)))]))  // fits nowhere
            lab.toy.record(Toy.info, fields)
            let report = try await peer.client.read(ReadSelection(attributes: [path(1, Toy.value)], events: [EventPathPattern()]))
            #expect(report[1, Toy.value] != nil)
            #expect(report.numbers == [0, 2])
        }
    }

    @Test func aReaderThatDoesNotAcknowledgeIsLetGo() async throws {
        try await inLab(maximum: 1_024, endpoints: 50) { lab in
            let peer = lab.connect()
            let request = ReadRequest(ReadSelection(attributes: [AttributePathPattern()])).payload
            let silent = peer.say(.readRequest, request)
            let refusing = peer.say(.readRequest, request)
            let confused = peer.say(.readRequest, request)
            try await lab.settle()
            #expect(silent.reports.count == 1)
            refusing.acknowledge(.failure)
            confused.say(.reportData, [0x15, 0x18])
            try await lab.settle()
            #expect(peer.serverSession.openExchanges == 1)
            #expect(refusing.messages.count == 1)
            #expect(confused.opcodes == [5, 1])
            try await lab.timeline.advance(by: .milliseconds(9_999))
            #expect(peer.serverSession.openExchanges == 1)
            try await lab.timeline.advance(by: .milliseconds(1))
            #expect(peer.serverSession.openExchanges == 0)
            silent.acknowledge()
            try await lab.settle()
            #expect(silent.reports.count == 1)  // late: the exchange is over
        }
    }
}
