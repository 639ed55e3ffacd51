import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@Suite struct InvokeTests {
    static func command(_ endpoint: EndpointID?, _ id: CommandID, _ fields: TLVValue? = nil, reference: UInt16? = nil)
        -> CommandData
    {
        CommandData(WireCommandPath(endpoint: endpoint, cluster: Toy.id, command: id), fields, reference: reference)
    }
    static let fields = TLVValue.structure([TLVElement(0, .unsigned(42)), TLVElement(1, .utf8("x"))])

    @Test(arguments: [1_024, 64_000]) func aCommandAndItsResponse(_ maximum: Int) async throws {
        try await inLab(maximum: maximum) { lab in
            let peer = lab.connect()
            let answers = try await peer.client.invoke([Self.command(1, Toy.echo, Self.fields)])
            #expect(
                answers == [
                    CommandAnswer(WireCommandPath(endpoint: 1, cluster: Toy.id, command: Toy.echo), .response(Self.fields))
                ])
            #expect(try await peer.client.invoke([Self.command(1, Toy.ping)]).map(\.outcome) == [.status(.success)])
            #expect(
                try await peer.client.invoke([Self.command(1, Toy.fail)]).map(\.outcome) == [
                    .status(Status(.failure, clusterStatus: 3))
                ])
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func everyWrongPathHasItsStatus() async throws {
        try await inLab { lab in
            let (owner, guest) = (lab.connect(), lab.connect(fabric: 2, node: 0xB))
            func outcome(_ peer: Peer, _ command: CommandData, timed: UInt16? = nil) async throws -> StatusCode? {
                guard case .status(let status) = try await peer.client.invoke([command], timed: timed).first?.outcome else {
                    return nil
                }
                return status.code
            }
            try await lab.settle()
            #expect(try await outcome(owner, Self.command(9, Toy.ping)) == .unsupportedEndpoint)
            #expect(
                try await outcome(owner, CommandData(WireCommandPath(endpoint: 1, cluster: 0x99, command: 0)))
                    == .unsupportedCluster)
            #expect(try await outcome(owner, Self.command(1, 0x77)) == .unsupportedCommand)
            #expect(try await outcome(guest, Self.command(1, Toy.ping)) == .unsupportedAccess)
            #expect(try await outcome(guest, Self.command(1, 0x77)) == .unsupportedCommand)
            #expect(try await outcome(owner, Self.command(1, Toy.timedCommand)) == .needsTimedInteraction)
            #expect(try await outcome(guest, Self.command(1, Toy.timedCommand)) == .unsupportedAccess)
            #expect(try await outcome(owner, Self.command(1, Toy.timedCommand), timed: 500) == .success)
            #expect(try await outcome(owner, Self.command(1, Toy.ping, .unsigned(1))) == .invalidCommand)
            let pairing = lab.connect(fabric: 0, node: 0, mode: .pase)
            #expect(try await outcome(pairing, Self.command(1, Toy.fabricCommand)) == .unsupportedAccess)
            #expect(try await outcome(owner, Self.command(1, Toy.fabricCommand)) == .success)
            #expect(lab.toy.log == ["invoke TimedCommand", "invoke FabricCommand"])
        }
    }

    @Test func severalCommandsAreAnsweredByReference() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let answers = try await peer.client.invoke([
                Self.command(1, Toy.echo, Self.fields, reference: 7), Self.command(2, Toy.ping, reference: 3),
                Self.command(9, Toy.ping, reference: 0), Self.command(1, Toy.timedCommand, reference: 65_535),
            ])
            #expect(answers.map(\.reference) == [7, 3, 0, 65_535])
            #expect(
                answers.map(\.outcome) == [
                    .response(Self.fields), .status(.success), .status(Status(.unsupportedEndpoint)),
                    .status(Status(.needsTimedInteraction)),
                ])
        }
    }

    @Test func batchesThatAreNotWellFormedAreRefusedWhole() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let wrong: [[CommandData]] = [
                [],
                (0..<5).map { Self.command(1, CommandID(UInt32($0)), reference: UInt16($0)) },  // more than the node takes
                [Self.command(1, Toy.ping, reference: 1), Self.command(1, Toy.echo)],  // without a reference
                [Self.command(1, Toy.ping, reference: 1), Self.command(1, Toy.echo, reference: 1)],  // one reference
                [Self.command(1, Toy.ping, reference: 1), Self.command(1, Toy.ping, reference: 2)],  // one path
                [Self.command(1, Toy.ping, reference: 1), Self.command(nil, Toy.echo, reference: 2)],  // a wildcard
                [CommandData(WireCommandPath(endpoint: 1, cluster: Toy.id))],
                [CommandData(WireCommandPath(endpoint: 1, command: Toy.ping))],
            ]
            for commands in wrong {
                let talk = peer.say(.invokeRequest, InvokeRequest(commands).payload)
                try await lab.settle()
                #expect(talk.status == .invalidAction)
            }
            #expect(lab.toys.values.allSatisfy { $0.log.isEmpty })
            lab.node.maximumPathsPerInvoke = 1
            let talk = peer.say(
                .invokeRequest,
                InvokeRequest([Self.command(1, Toy.ping, reference: 1), Self.command(2, Toy.ping, reference: 2)]).payload)
            try await lab.settle()
            #expect(talk.status == .invalidAction)
        }
    }

    @Test func aWildcardEndpointInvokesWhereItMay() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            lab.node.reach[1] = [0, 2]
            let answers = try await peer.client.invoke([Self.command(nil, Toy.ping)])
            #expect(answers.map(\.path.endpoint) == [0, 2])
            #expect(try await peer.client.invoke([Self.command(nil, 0x77)]).isEmpty)
            #expect(lab.toys[1]?.log.isEmpty == true)
        }
    }

    @Test func onlyAStatusMayBeSuppressed() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let status = peer.say(.invokeRequest, InvokeRequest([Self.command(1, Toy.ping)], suppressesResponse: true).payload)
            let response = peer.say(.invokeRequest, InvokeRequest([Self.command(1, Toy.echo)], suppressesResponse: true).payload)
            try await lab.settle()
            #expect(status.messages.isEmpty)
            #expect(response.opcodes == [9])
            #expect(lab.toy.log.count == 2)
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func responsesThatDoNotFitTogetherComeInChunks() async throws {
        try await inLab(maximum: 1_024) { lab in
            let peer = lab.connect()
            func big(_ endpoint: EndpointID, _ size: UInt64) -> CommandData {
                Self.command(endpoint, Toy.big, .structure([TLVElement(0, .unsigned(size))]), reference: endpoint.rawValue)
            }
            let answers = try await peer.client.invoke([big(0, 700), big(1, 3_000), big(2, 600)])
            #expect(answers.map(\.reference) == [0, 1, 2])
            #expect(answers[1].outcome == .status(Status(.resourceExhausted)))
            for (place, size) in [(0, 700), (2, 600)] {
                guard case .response(let fields) = answers[place].outcome else { throw Status(.failure) }
                #expect(fields[0]?.octets?.count == size)
            }
            // Who does not acknowledge gets no more, and the exchange does not stay.
            let silent = peer.say(.invokeRequest, InvokeRequest([big(0, 700), big(2, 600)]).payload)
            try await lab.timeline.advance(by: .seconds(10))
            #expect(silent.messages.count == 1)
            #expect(peer.serverSession.openExchanges == 0)
        }
    }
}

@Suite struct TimedTests {
    static let invoke = InvokeRequest([InvokeTests.command(1, Toy.timedCommand)], isTimed: true).payload

    @Test func inTimeAndLateToTheMillisecond() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            for (wait, status) in [(499, nil), (500, nil), (501, StatusCode.timeout), (20_000, .timeout)] {
                lab.toy.log = []
                let talk = peer.say(.timedRequest, TimedRequest(timeout: 500).payload)
                try await lab.timeline.advance(by: .milliseconds(wait))
                #expect(talk.status == .success)
                talk.say(.invokeRequest, Self.invoke)
                try await lab.settle()
                if let status {
                    #expect(talk.opcodes == [1, 1])
                    #expect(talk.messages.last?.payload == StatusResponse(status).payload)
                } else {
                    #expect(talk.opcodes == [1, 9])
                }
                #expect(lab.toy.log.isEmpty == (status != nil))
                #expect(peer.serverSession.openExchanges == 0)
            }
            // Nobody waits for ever.
            let talk = peer.say(.timedRequest, TimedRequest(timeout: 500).payload)
            try await lab.timeline.advance(by: .seconds(31))
            #expect(peer.serverSession.openExchanges == 0)
            #expect(talk.status == .success)
        }
    }

    @Test func theClientDoesTheSame() async throws {
        try await inLab(mode: .automatic) { lab in
            let peer = lab.connect()
            let fine = try await peer.client.invoke([InvokeTests.command(1, Toy.timedCommand)], timed: 500)
            #expect(fine.map(\.outcome) == [.status(.success)])
            let write = try await peer.client.write([WriteTests.data(1, Toy.timedValue, .unsigned(9))], timed: 500)
            #expect(write.map(\.status) == [.success])
            let mover = lab.timeline
            async let moved: Void = mover.advance(by: .seconds(2))
            do {
                _ = try await peer.client.invoke(
                    [InvokeTests.command(1, Toy.timedCommand)], timed: 500, delay: .milliseconds(600))
                Issue.record("a late request was accepted")
            } catch InteractionError.refused(let status) {
                #expect(status.code == .timeout)
            }
            try await moved
            #expect(lab.toy.log == ["invoke TimedCommand", "write TimedValue replace(MatterTLV.TLVValue.unsigned(9))"])
        }
    }

    @Test func aMismatchEitherWayIsOne() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let write = [WriteTests.data(1, Toy.value, .unsigned(9))]
            for (opcode, timed, plain) in [
                (InteractionOpcode.invokeRequest, Self.invoke, InvokeRequest([InvokeTests.command(1, Toy.ping)]).payload),
                (.writeRequest, WriteRequest(write, isTimed: true).payload, WriteRequest(write).payload),
            ] {
                let claims = peer.say(opcode, timed)
                let denies = peer.say(.timedRequest, TimedRequest(timeout: 500).payload)
                try await lab.settle()
                denies.say(opcode, plain)
                try await lab.settle()
                #expect(claims.status == .timedRequestMismatch)
                #expect(denies.messages.last?.payload == StatusResponse(.timedRequestMismatch).payload)
            }
            #expect(lab.toy.log.isEmpty)
        }
    }

    @Test func nothingElseMayFollow() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            for (opcode, payload) in [
                (InteractionOpcode.readRequest, ReadRequest(ReadSelection()).payload),
                (.timedRequest, TimedRequest(timeout: 5).payload),
                (.statusResponse, StatusResponse(.success).payload),
            ] {
                let talk = peer.say(.timedRequest, TimedRequest(timeout: 500).payload)
                try await lab.settle()
                talk.say(opcode, payload)
                try await lab.settle()
                #expect(talk.messages.last?.payload == StatusResponse(.invalidAction).payload)
            }
            #expect(peer.serverSession.openExchanges == 0)
        }
    }
}
