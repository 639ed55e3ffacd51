import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV

/// Frames as the load generator's plan has them: bytes in hexadecimal, with `lo` and `hi` for the exchange id and `??` for what may be
/// anything.
enum Messages {
    /// On/Off Toggle at endpoint 1, and the answer: success.
    static var toggle: (request: String, answer: String) {
        let path = WireCommandPath(CommandPath(1, OnOff.id, OnOff.Commands.toggle))
        return (
            frame(.invokeRequest, isRequest: true, InvokeRequest([CommandData(path, .structure([]))]).payload),
            frame(.invokeResponse, isRequest: false, InvokeResponse([CommandAnswer(path, .status(.success))]).payload)
        )
    }

    /// A read of OnOff at endpoint 1, and the report: any data version of four bytes, and either value.
    static var read: (request: String, answer: String) {
        let path = WireAttributePath(AttributePath(1, OnOff.id, OnOff.Attributes.onOff))
        let report = ReportData(
            attributes: [AttributeReport(path, .value(DataVersion(0xA1B2_C3D4), .boolean(false)))], suppressesResponse: true)
        let version = "d4 c3 b2 a1"
        var answer = frame(.reportData, isRequest: false, report.payload)
        // The value of the attribute is the element with context tag 2 and type false or true.
        answer = answer.replacing(version, with: "?? ?? ?? ??").replacing(" 28 02", with: " ?? 02")
        return (frame(.readRequest, isRequest: true, ReadRequest(ReadSelection(attributes: [path.pattern])).payload), answer)
    }

    /// The acceptor's first frame: session established.
    static var greeting: String {
        let report = StatusReport(.success, code: StatusReport.SecureChannelCode.sessionEstablished)
        let header = ProtocolHeader(
            isInitiator: false, opcode: SecureChannelOpcode.statusReport, exchangeID: 0, protocolID: .secureChannel)
        return framed(header, report.payload)
    }

    private static func frame(_ opcode: InteractionOpcode, isRequest: Bool, _ payload: [UInt8]) -> String {
        let header = ProtocolHeader(isInitiator: isRequest, opcode: opcode.rawValue, exchangeID: 0xFFFF, protocolID: .interactionModel)
        var words = framed(header, payload).split(separator: " ").map(String.init)
        // Length, exchange flags, opcode, exchange id.
        (words[6], words[7]) = ("lo", "hi")
        return words.joined(separator: " ")
    }

    private static func framed(_ header: ProtocolHeader, _ payload: [UInt8]) -> String {
        var bytes: [UInt8] = []
        header.write(to: &bytes)
        bytes += payload
        let length = UInt32(bytes.count)
        return ((0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + bytes).map(hexadecimal).joined(separator: " ")
    }

    static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}

extension String {
    /// Every occurrence of `old` replaced.
    fileprivate func replacing(_ old: String, with new: String) -> String {
        var result = ""
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(old) {
                result += new
                rest = rest.dropFirst(old.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}
