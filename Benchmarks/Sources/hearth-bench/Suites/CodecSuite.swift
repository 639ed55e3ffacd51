import MatterInteraction
import MatterModel
import MatterTLV

/// Encoding and decoding one message: the 26 bytes of an invoke request, On/Off Toggle.
enum CodecSuite {
    /// How often a message is coded in one measurement.
    private static let repetitions = 200_000

    static func run(_ report: inout Report) throws {
        let command = CommandData(WireCommandPath(CommandPath(1, OnOff.id, OnOff.Commands.toggle)), .structure([]))
        let request = InvokeRequest([command])
        let message = request.payload
        report.note("The message is \(message.count) bytes.")
        var writer = TLVWriter(reservingCapacity: 64)
        measure(&report, "encode into a reused writer") {
            writer.removeAll()
            write(&writer)
            return writer.count
        }
        guard writer.bytes == message else { throw BenchmarkError("the two encodings differ") }
        measure(&report, "encode into a fresh writer") {
            var writer = TLVWriter()
            write(&writer)
            return writer.count
        }
        measure(&report, "encode the typed message") { request.payload.count }
        try message.withUnsafeBytes { bytes in
            measure(&report, "decode: walk with TLVReader") { walk(bytes) }
            guard walk(bytes) == 11 else { throw BenchmarkError("the walk saw \(walk(bytes)) elements") }
            measure(&report, "decode: the typed message") { (try? InvokeRequest(decoding: bytes))?.commands.count ?? 0 }
            measure(&report, "decode: a tree of TLVValue") { (try? TLVElement(decoding: bytes))?.value.members?.count ?? 0 }
        }
    }

    private static func measure(_ report: inout Report, _ name: String, _ body: () -> Int) {
        var times: [Double] = []
        var sink = 0
        for _ in 0..<7 {
            let start = cpuSeconds()
            for _ in 0..<repetitions { sink &+= body() }
            times.append((cpuSeconds() - start) / Double(repetitions) * 1e9)
        }
        report.add("codec", name, median(times), "ns", [("least", times.min() ?? 0), ("checksum", Double(sink % 1000))])
    }

    @inline(never)
    private static func write(_ writer: inout TLVWriter) {
        writer.openStructure(.anonymous)
        writer.boolean(0, false)
        writer.boolean(1, false)
        writer.openArray(2)
        writer.openStructure(.anonymous)
        writer.openList(0)
        writer.unsigned(0, 1)
        writer.unsigned(1, 6)
        writer.unsigned(2, 2)
        writer.close()
        writer.openStructure(1)
        writer.close()
        writer.close()
        writer.close()
        writer.unsigned(255, 12)
        writer.close()
    }

    @inline(never)
    private static func walk(_ bytes: UnsafeRawBufferPointer) -> Int {
        var reader = TLVReader(bytes)
        var elements = 0
        do throws(TLVError) {
            while let token = try reader.next() { if case .endOfContainer = token.kind { continue } else { elements += 1 } }
        } catch { return -1 }
        return elements
    }
}
