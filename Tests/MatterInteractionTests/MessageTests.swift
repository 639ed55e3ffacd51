import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

private func decode<Message>(_ bytes: [UInt8], _ make: (UnsafeRawBufferPointer) throws -> Message) throws -> Message {
    try bytes.withUnsafeBytes { try make($0) }
}

private func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
}

/// Bytes that another encoder wrote, of messages given by the members' names in chapter 10 of the specification.
@Suite struct GoldenMessageTests {
    @Test func read() throws {
        let golden = bytes(
            "15360017240201240306240400181724031d18182903360415370024010124020618260104030201181824ff0c18")
        let request = ReadRequest(
            ReadSelection(
                attributes: [AttributePathPattern(1, 6, 0), AttributePathPattern(nil, 0x1D)],
                dataVersionFilters: [DataVersionFilter(1, 6, 0x0102_0304)]))
        #expect(request.payload == golden)
        #expect(try decode(golden, ReadRequest.init(decoding:)) == request)
    }

    @Test func subscribe() throws {
        let golden = bytes(
            "15280024010225022c013603172402012403082404001818360417240100240228290418183605152601701101001818280724ff0c18")
        let request = SubscribeRequest(
            ReadSelection(
                attributes: [AttributePathPattern(1, 8, 0)], events: [EventPathPattern(0, 0x28, isUrgent: true)],
                eventMinimum: 70_000,
                isFabricFiltered: false), keepsSubscriptions: false, minimumInterval: 2, maximumInterval: 300)
        #expect(request.payload == golden)
        #expect(try decode(golden, SubscribeRequest.init(decoding:)) == request)
        let response = SubscribeResponse(subscription: 0x1122_3344, maximumInterval: 300)
        #expect(response.payload == bytes("1526004433221125022c0124ff0c18"))
        #expect(try decode(response.payload, SubscribeResponse.init(decoding:)) == response)
    }

    @Test func report() throws {
        let golden = bytes(
            "152600ddccbbaa360115350124000737012402012403062404001829021818153500370024020924030624040018350124007f181818183602"
                + "1535013700240100240228240300182401052402022504e803350724000118181818290324ff0c18")
        let report = ReportData(
            subscription: 0xAABB_CCDD,
            attributes: [
                AttributeReport(WireAttributePath(AttributePath(1, 6, 0)), .value(7, .boolean(true))),
                AttributeReport(WireAttributePath(AttributePath(9, 6, 0)), .status(Status(.unsupportedEndpoint))),
            ],
            events: [
                EventReport(
                    EventPathPattern(0, 0x28, 0),
                    .event(5, .critical, .system(milliseconds: 1_000), .structure([TLVElement(0, .unsigned(1))])))
            ], moreChunks: true)
        #expect(report.payload == golden)
        #expect(try decode(golden, ReportData.init(decoding:)) == report)
    }

    @Test func write() throws {
        let golden = bytes(
            "15280029013602152400093701240200240328240405182c02044c616d701815370124020024031f24040034051835022401053403181818"
                + "290324ff0c18")
        let request = WriteRequest(
            [
                AttributeData(WireAttributePath(AttributePath(0, 0x28, 5)), .utf8("Lamp"), version: 9),
                AttributeData(
                    WireAttributePath(AttributePath(0, 0x1F, 0), listIndex: .append),
                    .structure([TLVElement(1, .unsigned(5)), TLVElement(3, .null)])),
            ], isTimed: true, moreChunks: true)
        #expect(request.payload == golden)
        #expect(try decode(golden, WriteRequest.init(decoding:)) == request)
        let response = WriteResponse([
            .init(WireAttributePath(AttributePath(0, 0x28, 5)), .success),
            .init(WireAttributePath(AttributePath(0, 0x28, 6)), Status(.constraintError, clusterStatus: 2)),
        ])
        #expect(
            response.payload
                == bytes("153600153700240200240328240405183501240000181815370024020024032824040618350124008724010218181824ff0c18")
        )
        #expect(try decode(response.payload, WriteResponse.init(decoding:)) == response)
    }

    @Test func invoke() throws {
        let golden = bytes("1528002801360215370024000124010824020418350124008024010a24020024030018240203181824ff0c18")
        let fields = TLVValue.structure([
            TLVElement(0, .unsigned(128)), TLVElement(1, .unsigned(10)), TLVElement(2, .unsigned(0)), TLVElement(3, .unsigned(0)),
        ])
        let request = InvokeRequest([CommandData(WireCommandPath(CommandPath(1, 8, 4)), fields, reference: 3)])
        #expect(request.payload == golden)
        #expect(try decode(golden, InvokeRequest.init(decoding:)) == request)
        let response = InvokeResponse([
            CommandAnswer(
                WireCommandPath(CommandPath(1, 4, 0)),
                .response(.structure([TLVElement(0, .unsigned(0)), TLVElement(1, .unsigned(5))])), reference: 1),
            CommandAnswer(WireCommandPath(CommandPath(1, 6, 2)), .status(.success), reference: 2),
        ])
        #expect(
            response.payload
                == bytes(
                    "1528003601153500370024000124010424020018350124000024010518240201181815350137002400012401062402021835012400001824"
                        + "020218181824ff0c18"))
        #expect(try decode(response.payload, InvokeResponse.init(decoding:)) == response)
    }

    @Test func timedAndStatus() throws {
        #expect(TimedRequest(timeout: 1_500).payload == bytes("152500dc0524ff0c18"))
        #expect(StatusResponse(.invalidAction).payload == bytes("1524008024ff0c18"))
    }
}

@Suite struct MessageTests {
    @Test func everyMessageComesBack() throws {
        var generator = Generator(seed: 11)
        for _ in 0..<500 {
            let read = ReadRequest(generator.selection())
            #expect(try decode(read.payload, ReadRequest.init(decoding:)) == read)
            let subscribe = generator.subscribe()
            #expect(try decode(subscribe.payload, SubscribeRequest.init(decoding:)) == subscribe)
            let report = generator.report()
            #expect(try decode(report.payload, ReportData.init(decoding:)) == report)
            let write = generator.write()
            #expect(try decode(write.payload, WriteRequest.init(decoding:)) == write)
            let writeResponse = generator.writeResponse()
            #expect(try decode(writeResponse.payload, WriteResponse.init(decoding:)) == writeResponse)
            let invoke = generator.invoke()
            #expect(try decode(invoke.payload, InvokeRequest.init(decoding:)) == invoke)
            let invokeResponse = generator.invokeResponse()
            #expect(try decode(invokeResponse.payload, InvokeResponse.init(decoding:)) == invokeResponse)
            let timed = TimedRequest(timeout: generator.number())
            #expect(try decode(timed.payload, TimedRequest.init(decoding:)) == timed)
            let status = StatusResponse(StatusCode(rawValue: generator.number()))
            #expect(try decode(status.payload, StatusResponse.init(decoding:)) == status)
        }
    }

    @Test func noBytesTrapADecoder() {
        var generator = Generator(seed: 12)
        var (accepted, refused) = (0, 0)
        func attempt<Message>(_ bytes: [UInt8], _ make: (UnsafeRawBufferPointer) throws -> Message) {
            if (try? decode(bytes, make)) != nil { accepted += 1 } else { refused += 1 }
        }
        for round in 0..<2_000 {
            let bytes =
                round % 4 == 0
                ? [0x15] + (0..<generator.random.below(60)).map { _ in UInt8(generator.random.below(256)) }
                : generator.payload(damaged: round % 4 != 1)
            attempt(bytes, ReadRequest.init(decoding:))
            attempt(bytes, SubscribeRequest.init(decoding:))
            attempt(bytes, SubscribeResponse.init(decoding:))
            attempt(bytes, ReportData.init(decoding:))
            attempt(bytes, WriteRequest.init(decoding:))
            attempt(bytes, WriteResponse.init(decoding:))
            attempt(bytes, InvokeRequest.init(decoding:))
            attempt(bytes, InvokeResponse.init(decoding:))
            attempt(bytes, TimedRequest.init(decoding:))
            attempt(bytes, StatusResponse.init(decoding:))
        }
        #expect(accepted > 500 && refused > 5_000)
    }

    /// Members that every message of its kind has (Matter Core, 10.7), and elements of the wrong kind.
    @Test func whatIsMalformedIsRefusedWithInvalidAction() async throws {
        try await inLab { lab in
            let peer = lab.connect()
            let wrong: [(UInt8, String)] = [
                (2, ""), (2, "18"), (2, "15"), (2, "1618"), (2, "1518"), (2, "15290318" + "00"), (2, "15240301" + "18"),
                (2, "1536001718" + "29031818"),  // the array ends with the message
                (2, "153600171828001818290318"),  // a member of the wrong kind behind it
                (2, "15360017290024020118182903" + "18"),  // compressed tags
                (2, "15290336041537002401012402061818" + "1818"),  // a data version filter without a version
                (3, "1524010224020a18"), (3, "15280024010228071818"), (6, "1528003602181818"), (8, "15280036021818"),
                (8, "152800280118"),
                (10, "1518"), (1, "15240000" + "18"), (4, "15240001" + "18"), (5, "1518"), (7, "1518"), (9, "1518"), (0, "1518"),
                (11, "1518"),
                (255, "1518"),
            ]
            for (opcode, payload) in wrong {
                let talk = peer.say(opcode, bytes(payload))
                try await lab.settle()
                #expect(talk.status == .invalidAction, "opcode \(opcode), \(payload)")
            }
            #expect(peer.serverSession.openExchanges == 0)
        }
    }

    @Test func aServerAndAClientOutliveNoise() async throws {
        try await inLab(maximum: 1_024) { lab in
            let peer = lab.connect()
            var generator = Generator(seed: 13)
            lab.toy.values[Toy.list] = .array((0..<40).map { .octets([UInt8](repeating: $0, count: 60)) })
            for round in 0..<3_000 {
                let opcode = UInt8(generator.random.below(12))
                let damaged = generator.flag()
                let payload = Array(generator.payload(damaged: damaged).prefix(900))
                if round % 3 == 0 {
                    let talk = Talk(peer.serverSession.begin(.interactionModel), lab.timeline)
                    talk.say(opcode, payload)
                    try await lab.settle()
                    talk.exchange.close()
                } else {
                    let talk = peer.say(opcode, payload)
                    try await lab.settle()
                    talk.say(UInt8(generator.random.below(12)), Array(generator.payload(damaged: damaged).prefix(900)))
                    try await lab.settle()
                    talk.exchange.close()
                }
                // More than a server takes at once is never open for long.
                if round % 10 == 9 { try await lab.timeline.advance(by: .seconds(120)) }
            }
            try await lab.timeline.advance(by: .seconds(120))
            #expect(peer.serverSession.openExchanges == 0)
            #expect(peer.session.openExchanges == 0)
            #expect(try await peer.client.read(ReadSelection(attributes: [path(1, 0xFFFD)]))[1, 0xFFFD] == .unsigned(3))
        }
    }
}
