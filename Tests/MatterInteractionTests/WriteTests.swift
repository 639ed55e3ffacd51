import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@Suite struct WriteTests {
    static func data(_ endpoint: EndpointID?, _ attribute: AttributeID, _ value: TLVValue, version: DataVersion? = nil)
        -> AttributeData
    {
        AttributeData(WireAttributePath(path(endpoint, attribute)), value, version: version)
    }

    @Test func severalWritesEachWithItsStatus() async throws {
        try await inLab { lab in
            let (owner, guest) = (lab.connect(), lab.connect(fabric: 2, node: 0xB))
            lab.node.privileges[2] = .operate
            let writes = [
                Self.data(1, Toy.value, .unsigned(5)), Self.data(9, Toy.value, .unsigned(5)), Self.data(1, 0x55, .unsigned(5)),
                AttributeData(WireAttributePath(path(1, 0, cluster: 0x99)), .unsigned(1)),
                Self.data(1, Toy.readOnly, .unsigned(5)),
                Self.data(1, 0xFFFD, .unsigned(5)), Self.data(1, Toy.secret, .unsigned(5)),
                Self.data(1, Toy.timedValue, .unsigned(5)),
                Self.data(1, Toy.value, .utf8("x")), Self.data(1, Toy.value, .unsigned(1_001)),
                Self.data(1, Toy.failing, .unsigned(1)),
                Self.data(1, Toy.writeOnly, .unsigned(6)),
            ]
            let items = try await owner.client.write(writes)
            #expect(items.map(\.path) == writes.map(\.path))
            #expect(
                items.map(\.status) == [
                    .success, Status(.unsupportedEndpoint), Status(.unsupportedAttribute), Status(.unsupportedCluster),
                    Status(.unsupportedWrite), Status(.unsupportedWrite), .success, Status(.needsTimedInteraction),
                    Status(.invalidDataType), Status(.constraintError), Status(.constraintError, clusterStatus: 9), .success,
                ])
            #expect(lab.toy.values[Toy.value] == .unsigned(5))
            #expect(lab.toy.values[Toy.timedValue] == .unsigned(3))
            // Existence and writability come before access, as CHIP 1.4 has it.
            let denied = try await guest.client.write(writes).map(\.status.code)
            #expect(denied[4] == .unsupportedWrite && denied[6] == .unsupportedAccess && denied[1] == .unsupportedEndpoint)
        }
    }

    @Test func aDataVersionThatHasPassedIsAMismatch() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let items = try await peer.client.write([
                Self.data(1, Toy.value, .unsigned(5), version: 100), Self.data(1, Toy.value, .unsigned(6), version: 100),
                Self.data(1, Toy.value, .unsigned(7), version: 101),
            ])
            #expect(items.map(\.status.code) == [.success, .dataVersionMismatch, .success])
            #expect(lab.toy.values[Toy.value] == .unsigned(7))
        }
    }

    @Test func listsAreReplacedOrAppendedTo() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let entries = (1...3).map { TLVValue.octets([UInt8($0)]) }
            var append = Self.data(1, Toy.list, entries[2])
            append.path.listIndex = .append
            let items = try await peer.client.write([Self.data(1, Toy.list, .array(Array(entries.prefix(2)))), append])
            #expect(items.map(\.status) == [.success, .success])
            #expect(items.map(\.path.listIndex) == [.whole, .append])
            #expect(lab.toy.values[Toy.list] == .array(entries))
            #expect(lab.toy.log.count == 2)
            var odd = [append, append, append]
            odd[0].path.listIndex = .entry(1)
            odd[1].path.pattern.attribute = Toy.value
            #expect(try await peer.client.write(odd).map(\.status.code) == [.unsupportedWrite, .unsupportedWrite, .success])
        }
    }

    @Test func aLongListGoesInChunksAndIsJudgedOnce() async throws {
        try await inLab(maximum: 1_024) { lab in
            let peer = lab.connect()
            let entries = (0..<60).map { TLVValue.octets([UInt8](repeating: UInt8($0), count: 90)) }
            // As when an access control list is replaced: emptied by the first message, it would refuse the second.
            let server = lab.server
            let node = lab.node
            server.hooks.afterWrite = { [unowned node] _, _, _, _ in node.privileges[1] = .view }
            let items = try await peer.client.write([
                Self.data(1, Toy.value, .unsigned(1)), Self.data(1, Toy.list, .array(entries)),
            ])
            #expect(items.map(\.status.code) == [.success] + Array(repeating: .unsupportedAccess, count: 61))
            node.privileges[1] = .administer
            let again = try await peer.client.write([
                Self.data(1, Toy.list, .array(entries)), Self.data(1, Toy.value, .unsigned(2)),
            ])
            #expect(again.map(\.status.code) == Array(repeating: .success, count: 61) + [.unsupportedAccess])
            #expect(lab.toy.values[Toy.list] == .array(entries))
            #expect(peer.serverSession.openExchanges == 0)
            // What no message holds is not begun.
            await #expect(throws: InteractionError.self) {
                try await peer.client.write([Self.data(1, Toy.list, .array([.octets([UInt8](repeating: 1, count: 2_000))]))])
            }
        }
    }

    @Test func aWriterThatAnnouncesMoreAndStopsIsLetGo() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let request = WriteRequest([Self.data(1, Toy.value, .unsigned(1))], moreChunks: true).payload
            let silent = peer.say(.writeRequest, request)
            let confused = peer.say(.writeRequest, request)
            try await lab.settle()
            confused.say(.readRequest, ReadRequest(ReadSelection()).payload)
            try await lab.settle()
            #expect(silent.opcodes == [7])
            #expect(confused.opcodes == [7, 1])
            #expect(peer.serverSession.openExchanges == 1)
            try await lab.timeline.advance(by: .seconds(10))
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func aWildcardEndpointWritesWhereItMay() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let items = try await peer.client.write([Self.data(nil, Toy.value, .unsigned(9))])
            #expect(items.map(\.path.pattern.endpoint) == [0, 1, 2])
            #expect(items.allSatisfy { $0.status.isSuccess })
            lab.node.reach[1] = [2]
            #expect(try await peer.client.write([Self.data(nil, Toy.value, .unsigned(8))]).map(\.path.pattern.endpoint) == [2])
            #expect(try await peer.client.write([Self.data(nil, Toy.readOnly, .unsigned(8))]).isEmpty)
            for wrong in [path(1, nil), path(1, 0, cluster: nil)] {
                let request = WriteRequest([
                    Self.data(2, Toy.value, .unsigned(3)), AttributeData(WireAttributePath(wrong), .unsigned(3)),
                ])
                let talk = peer.say(.writeRequest, request.payload)
                try await lab.settle()
                #expect(talk.status == .invalidAction)
            }
            #expect(lab.toys[2]?.values[Toy.value] == .unsigned(8))
        }
    }

    @Test func aSuppressedResponseDoesNotComeAndTheWriteHappens() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let talk = peer.say(
                .writeRequest, WriteRequest([Self.data(1, Toy.value, .unsigned(4))], suppressesResponse: true).payload)
            let odd = peer.say(
                .writeRequest,
                WriteRequest([Self.data(1, Toy.value, .unsigned(5))], suppressesResponse: true, moreChunks: true).payload)
            try await lab.settle()
            #expect(talk.messages.isEmpty)
            #expect(odd.status == .invalidAction)
            #expect(lab.toy.values[Toy.value] == .unsigned(4))
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func beforeThereIsAFabricFabricScopedDataCannotBeWritten() async throws {
        try await inLab { lab in
            let pairing = lab.connect(fabric: 0, node: 0, mode: .pase)
            let items = try await pairing.client.write([
                Self.data(1, Toy.entries, .array([])), Self.data(1, Toy.value, .unsigned(2)),
            ])
            #expect(items.map(\.status.code) == [.unsupportedAccess, .success])
        }
    }

    @Test func aGroupIsNotAnswered() async throws {
        try await inLab { lab in
            let group = lab.connect(mode: .group)
            let talk = group.say(.writeRequest, WriteRequest([Self.data(nil, Toy.value, .unsigned(4))]).payload)
            let other = group.say(
                .invokeRequest, InvokeRequest([CommandData(WireCommandPath(cluster: Toy.id, command: Toy.echo))]).payload)
            try await lab.settle()
            #expect(talk.messages.isEmpty && other.messages.isEmpty)
            #expect(lab.toys.values.allSatisfy { $0.values[Toy.value] == .unsigned(4) && $0.log.contains("invoke Echo") })
            #expect(group.serverSession.openExchanges == 0)
        }
    }
}
