import HearthTime
import MatterMessage
import Testing

@Suite struct SessionTests {
    @Test func aRequestAndItsAnswer() async throws {
        try await onTimeline { timeline in
            let pair = Pair(timeline)
            var seen: [String] = []
            pair.server.onExchange = { exchange, opcode, payload in
                seen.append("request \(opcode) \(Array(payload)) \(exchange.id) \(exchange.isInitiator)")
                exchange.send(9, [4, 5])
                exchange.close()
            }
            let exchange = pair.client.begin(.interactionModel)
            exchange.onMessage = { opcode, payload in seen.append("answer \(opcode) \(Array(payload))") }
            exchange.send(8, [1, 2, 3])
            #expect(seen.isEmpty)  // never from within a send
            try await pair.settle()
            #expect(seen == ["request 8 [1, 2, 3] 1 false", "answer 9 [4, 5]"])
            #expect(pair.server.openExchanges == 0)
            exchange.close()
            #expect(pair.client.openExchanges == 0)
        }
    }

    @Test func bothSidesMayUseTheSameExchangeID() async throws {
        try await onTimeline { timeline in
            let pair = Pair(timeline)
            let back = Session(link: pair.far, context: SessionContext(), firstExchangeID: 1)
            var seen: [String] = []
            pair.client.onExchange = { exchange, opcode, _ in
                seen.append("client accepted \(exchange.id)")
                exchange.send(opcode &+ 1, [])
                exchange.close()
            }
            back.onExchange = { exchange, opcode, _ in
                seen.append("server accepted \(exchange.id)")
                exchange.send(opcode &+ 1, [])
                exchange.close()
            }
            for (name, session) in [("client", pair.client), ("server", back)] {
                let exchange = session.begin(.interactionModel)
                exchange.onMessage = { opcode, _ in seen.append("\(name) got \(opcode)") }
                exchange.send(1, [])
            }
            try await pair.settle()
            #expect(Set(seen) == ["client accepted 1", "server accepted 1", "client got 2", "server got 2"])
            #expect(seen.count == 4)
        }
    }

    @Test func aMessageOfAnotherProtocolOrALateOneIsDropped() async throws {
        try await onTimeline { timeline in
            let pair = Pair(timeline)
            var exchange: Exchange?
            var later: [UInt8] = []
            pair.server.onExchange = { accepted, _, _ in
                exchange = accepted
                accepted.onMessage = { opcode, _ in later.append(opcode) }
            }
            let first = pair.client.begin(.interactionModel)
            first.onMessage = { _, _ in Issue.record("a message for a closed exchange") }
            first.send(1, [])
            try await pair.settle()
            // The same exchange id with another protocol.
            var bytes: [UInt8] = []
            ProtocolHeader(isInitiator: true, opcode: 7, exchangeID: first.id, protocolID: .secureChannel).write(to: &bytes)
            pair.near.send(bytes)
            first.send(2, [])
            try await pair.settle()
            #expect(later == [2])
            first.close()
            try #require(exchange).send(3, [])  // late
            try await pair.settle()
            #expect(pair.client.openExchanges == 0)
            #expect(pair.client.isOpen)
        }
    }

    @Test func exchangeIDsAreUsedAgainOnlyWhenFree() async throws {
        try await onTimeline { timeline in
            let (near, far) = MemoryLink.pair(timeline: timeline, name: "link")
            let session = Session(link: near, context: SessionContext(), firstExchangeID: 0xFFFF)
            let first = session.begin(.interactionModel)
            let second = session.begin(.interactionModel)
            #expect((first.id, second.id) == (0xFFFF, 0))
            var all = [first, second]
            while all.count < 65_536 { all.append(session.begin(.interactionModel)) }
            #expect(Set(all.map(\.id)).count == 65_536)
            #expect(!session.begin(.interactionModel).isOpen)  // none is free
            all[4_711].close()
            let again = session.begin(.interactionModel)
            #expect(again.isOpen)
            #expect(again.id == all[4_711].id)
            for exchange in all { exchange.close() }
            _ = far
        }
    }

    @Test func atTheLimitOfOpenExchangesReadingStopsAndGoesOnInOrder() async throws {
        try await onTimeline { timeline in
            let pair = Pair(timeline)
            var open: [Exchange] = []
            var order: [UInt8] = []
            pair.server.onExchange = { exchange, opcode, _ in
                order.append(opcode)
                open.append(exchange)
            }
            for number in 0..<40 { pair.client.begin(.interactionModel).send(UInt8(number), []) }
            try await pair.settle()
            #expect(order == Array(0..<16))
            // One leaves, one comes; a message in an open exchange waits its turn on the link.
            while order.count < 40 {
                let before = order.count
                open.removeFirst().close()
                try await pair.settle()
                #expect(order.count == before + 1)
                #expect(pair.server.openExchanges == 16)
            }
            #expect(order == Array(0..<40))
            for exchange in open { exchange.close() }
            try await pair.settle()
            pair.client.begin(.interactionModel).send(99, [])
            try await pair.settle()
            #expect(order.last == 99)
        }
    }

    /// What a link has read already still comes after `pauseReading`: as a stream link that found several frames in one read.
    final class EagerLink: MessageLink {
        var onMessage: ((UnsafeRawBufferPointer) -> Void)?
        var onClose: ((LinkError?) -> Void)?
        let maximumMessageSize = 64_000
        var calls: [String] = []
        var sent: [[UInt8]] = []
        func send(_ message: UnsafeRawBufferPointer) { sent.append(Array(message)) }
        func close() { calls.append("close") }
        func abort(_ error: LinkError) { calls.append("abort \(error.code)") }
        func pauseReading() { calls.append("pause") }
        func resumeReading() { calls.append("resume") }
        func receive(_ opcode: UInt8, exchange: UInt16) {
            var bytes: [UInt8] = []
            ProtocolHeader(isInitiator: true, opcode: opcode, exchangeID: exchange, protocolID: .interactionModel).write(
                to: &bytes)
            bytes.withUnsafeBytes { onMessage?($0) }
        }
    }

    @Test func whatTheLinkHadAlreadyReadWaitsInOrderAndIsNotHandledWithinAnotherHandler() {
        let link = EagerLink()
        let session = Session(link: link, context: SessionContext())
        var open: [Exchange] = []
        var log: [String] = []
        var depth = 0
        session.onExchange = { exchange, opcode, _ in
            depth += 1
            log.append("\(opcode) at \(depth)")
            exchange.onMessage = { later, _ in
                depth += 1
                log.append("\(later) at \(depth)")
                exchange.close()
                log.append("\(later) closed")
                depth -= 1
            }
            open.append(exchange)
            depth -= 1
        }
        for number in 0..<18 { link.receive(UInt8(number), exchange: UInt16(number)) }
        link.receive(50, exchange: 17)  // a second message of an exchange that waits
        #expect(log == (0..<16).map { "\($0) at 1" })
        #expect(link.calls == ["pause"])
        log = []
        link.receive(40, exchange: 0)
        #expect(log == ["40 at 1", "40 closed", "16 at 1"])
        log = []
        open[1].close()
        #expect(log == ["17 at 1", "50 at 1", "50 closed"])
        #expect(link.calls == ["pause", "resume"])
        for exchange in open { exchange.close() }
    }

    @Test func aSessionThatItsOwnHandlerClosesHandlesNothingMore() {
        let link = EagerLink()
        let session = Session(link: link, context: SessionContext())
        var handled: [UInt8] = []
        session.onExchange = { [unowned session] exchange, opcode, _ in
            handled.append(opcode)
            session.close()
            exchange.close()
        }
        link.receive(1, exchange: 1)
        link.receive(2, exchange: 2)
        #expect(handled == [1])
        #expect(link.calls == ["close"])
        #expect(!session.begin(.interactionModel).isOpen)
        link.onClose?(nil)
        #expect(!session.isOpen)
    }

    @Test func aMessageWithoutAHeaderEndsTheLink() {
        let link = EagerLink()
        let session = Session(link: link, context: SessionContext())
        session.onExchange = { _, _, _ in Issue.record("handled") }
        ([1, 2, 3] as [UInt8]).withUnsafeBytes { link.onMessage?($0) }
        link.receive(1, exchange: 1)  // came with the same read
        #expect(link.calls == ["abort protocolViolation"])
    }

    @Test func theEndTellsEveryExchangeOnceAndInOrder() async throws {
        try await onTimeline { timeline in
            let pair = Pair(timeline)
            var log: [String] = []
            pair.server.onExchange = { exchange, opcode, _ in exchange.onSessionEnd = { _ in log.append("server \(opcode)") } }
            pair.server.onEnd = { log.append("server ends \($0.map { "\($0.code)" } ?? "well")") }
            pair.client.onEnd = { log.append("client ends \($0.map { "\($0.code)" } ?? "well")") }
            var exchanges: [Exchange] = []
            for number in 1...3 {
                let exchange = pair.client.begin(.interactionModel)
                exchange.onSessionEnd = { _ in
                    log.append("client \(number)")
                    exchange.close()
                    pair.client.close()
                    #expect(!pair.client.begin(.interactionModel).isOpen)
                }
                exchange.send(UInt8(number), [])
                exchanges.append(exchange)
            }
            try await pair.settle()
            exchanges[1].close()
            pair.client.abort(LinkError(.closedHere, "a fault"))
            #expect(log.isEmpty)
            try await pair.settle()
            #expect(log.filter { $0.hasPrefix("client") } == ["client 1", "client 3", "client ends closedHere"])
            #expect(log.filter { $0.hasPrefix("server") } == ["server 1", "server 2", "server 3", "server ends broken"])
            #expect(pair.client.openExchanges == 0 && pair.server.openExchanges == 0)
            exchanges[0].send(1, [])
            try await pair.settle()
            #expect(timeline.pendingEntries == 0)
        }
    }

    /// As RemoveFabric does: told within the request, closed after its answer.
    @Test func aSessionThatIsToCloseWhenIdleEndsAfterTheAnswers() async throws {
        try await onTimeline { timeline in
            let pair = Pair(timeline)
            var open: [Exchange] = []
            pair.server.onExchange = { exchange, _, _ in
                open.append(exchange)
                pair.server.closeWhenIdle()
            }
            var seen: [String] = []
            pair.client.onEnd = { seen.append("end \($0 == nil)") }
            for _ in 0..<2 {
                let exchange = pair.client.begin(.interactionModel)
                exchange.onMessage = { opcode, _ in seen.append("answer \(opcode)") }
                exchange.send(1, [])
            }
            try await pair.settle()
            #expect(open.count == 2)
            #expect(seen.isEmpty)
            for exchange in open {
                exchange.send(2, [])
                exchange.close()
            }
            try await pair.settle()
            #expect(seen == ["answer 2", "answer 2", "end true"])
            #expect(!pair.server.isOpen)
        }
    }

    @Test func theFilterSeesAndDrops() async throws {
        try await onTimeline { timeline in
            let pair = Pair(timeline)
            var seen: [String] = []
            pair.client.filter = { isOutgoing, header, payload in
                seen.append("\(isOutgoing ? "out" : "in") \(header.opcode) \(payload.count)")
                return header.opcode != 2
            }
            pair.server.onExchange = { exchange, opcode, _ in
                exchange.send(opcode + 10, [1])
                exchange.close()
            }
            for opcode in [1, 2] as [UInt8] { pair.client.begin(.interactionModel).send(opcode, [0, 0]) }
            try await pair.settle()
            #expect(seen == ["out 1 2", "out 2 2", "in 11 1"])
        }
    }

    @Test func nothingKeepsASessionAlive() async throws {
        try await onTimeline { timeline in
            weak var weakSession: Session?
            weak var weakExchange: Exchange?
            var told = 0
            do {
                let pair = Pair(timeline)
                weakSession = pair.client
                let exchange = pair.client.begin(.interactionModel)
                weakExchange = exchange
                exchange.onMessage = { _, _ in exchange.close() }  // as conversations do: closed, this cycle is gone
                exchange.onSessionEnd = { _ in
                    told += 1
                    exchange.close()
                }
            }
            let closed = Pair(timeline).client.begin(.interactionModel)
            closed.onMessage = { _, _ in closed.close() }
            closed.onSessionEnd = { _ in closed.close() }
            #expect(!closed.isOpen && closed.onMessage == nil && closed.onSessionEnd == nil)
            #expect(weakSession == nil)
            #expect(weakExchange == nil)
            #expect(told == 1)
        }
    }
}
