import MatterTLV

/// PBKDFParamRequest: the initiator opens the pairing (Matter Core, 4.14.1.2).
public struct PBKDFParamRequest: Hashable, Sendable {
    /// 32 bytes.
    public var initiatorRandom: [UInt8]
    public var initiatorSessionID: UInt16
    /// 0 for the passcode of the setup code.
    public var passcodeID: UInt16
    /// The initiator knows the parameters already; the answer leaves them out.
    public var hasParameters: Bool
    public var sessionParameters: TLVValue?

    public init(
        initiatorRandom: [UInt8] = Crypto.random(32), initiatorSessionID: UInt16 = 0, passcodeID: UInt16 = 0,
        hasParameters: Bool = false,
        sessionParameters: TLVValue? = nil
    ) {
        (self.initiatorRandom, self.initiatorSessionID, self.passcodeID) = (initiatorRandom, initiatorSessionID, passcodeID)
        (self.hasParameters, self.sessionParameters) = (hasParameters, sessionParameters)
    }

    public var tlv: [UInt8] {
        var writer = TLVWriter()
        writer.structure(.anonymous) { w in
            w.octets(1, initiatorRandom)
            w.unsigned(2, UInt64(initiatorSessionID))
            w.unsigned(3, UInt64(passcodeID))
            w.boolean(4, hasParameters)
            if let sessionParameters { w.value(5, sessionParameters) }
        }
        return writer.bytes
    }

    public init(tlv bytes: [UInt8]) throws(CredentialsError) {
        let value = try TLVValue(credentials: bytes, "PBKDFParamRequest")
        initiatorRandom = try value.pairingField(1, 32)
        initiatorSessionID = try value.pairingNumber(2)
        passcodeID = try value.pairingNumber(3)
        guard let flag = value[4]?.boolean else {
            throw CredentialsError(.malformed, "PBKDFParamRequest: field 4 is not a boolean")
        }
        hasParameters = flag
        sessionParameters = value[5]
    }
}

/// PBKDFParamResponse: the responder names its parameters (Matter Core, 4.14.1.2).
public struct PBKDFParamResponse: Hashable, Sendable {
    /// What the request had, 32 bytes.
    public var initiatorRandom: [UInt8]
    /// 32 bytes.
    public var responderRandom: [UInt8]
    public var responderSessionID: UInt16
    /// Nil when the initiator said that it has them.
    public var parameters: PBKDFParameters?
    public var sessionParameters: TLVValue?

    public init(
        initiatorRandom: [UInt8], responderRandom: [UInt8] = Crypto.random(32), responderSessionID: UInt16 = 0,
        parameters: PBKDFParameters?, sessionParameters: TLVValue? = nil
    ) {
        (self.initiatorRandom, self.responderRandom) = (initiatorRandom, responderRandom)
        (self.responderSessionID, self.parameters) = (responderSessionID, parameters)
        self.sessionParameters = sessionParameters
    }

    public var tlv: [UInt8] {
        var writer = TLVWriter()
        writer.structure(.anonymous) { w in
            w.octets(1, initiatorRandom)
            w.octets(2, responderRandom)
            w.unsigned(3, UInt64(responderSessionID))
            if let parameters {
                w.structure(4) { w in
                    w.unsigned(1, UInt64(parameters.iterations))
                    w.octets(2, parameters.salt)
                }
            }
            if let sessionParameters { w.value(5, sessionParameters) }
        }
        return writer.bytes
    }

    /// - Throws: `outOfRange` when the parameters lie outside Matter's bounds.
    public init(tlv bytes: [UInt8]) throws(CredentialsError) {
        let value = try TLVValue(credentials: bytes, "PBKDFParamResponse")
        initiatorRandom = try value.pairingField(1, 32)
        responderRandom = try value.pairingField(2, 32)
        responderSessionID = try value.pairingNumber(3)
        sessionParameters = value[5]
        guard let inner = value[4] else {
            parameters = nil
            return
        }
        guard let iterations = inner[1]?.unsigned, let salt = inner[2]?.octets else {
            throw CredentialsError(.malformed, "PBKDFParamResponse: no iterations or no salt")
        }
        parameters = try PBKDFParameters(iterations: Int(clamping: iterations), salt: salt)
    }
}

/// Pake1, Pake2 and Pake3 (Matter Core, 4.14.1.2).
public enum PakeMessage {
    /// The initiator's share, a point of 65 bytes.
    public static func pake1(pA: [UInt8]) -> [UInt8] { TLVValue.structure([TLVElement(1, .octets(pA))]).encoded() }
    /// The responder's share, 65 bytes, and its confirmation, 32 bytes.
    public static func pake2(pB: [UInt8], cB: [UInt8]) -> [UInt8] {
        TLVValue.structure([TLVElement(1, .octets(pB)), TLVElement(2, .octets(cB))]).encoded()
    }
    /// The initiator's confirmation, 32 bytes.
    public static func pake3(cA: [UInt8]) -> [UInt8] { TLVValue.structure([TLVElement(1, .octets(cA))]).encoded() }

    /// The initiator's point, 65 bytes.
    public static func pA(pake1 bytes: [UInt8]) throws(CredentialsError) -> [UInt8] {
        try TLVValue(credentials: bytes, "Pake1").pairingField(1, 65)
    }
    /// The responder's point, 65 bytes, and its confirmation, 32.
    public static func pBcB(pake2 bytes: [UInt8]) throws(CredentialsError) -> (pB: [UInt8], cB: [UInt8]) {
        let value = try TLVValue(credentials: bytes, "Pake2")
        return (try value.pairingField(1, 65), try value.pairingField(2, 32))
    }
    /// The initiator's confirmation, 32 bytes.
    public static func cA(pake3 bytes: [UInt8]) throws(CredentialsError) -> [UInt8] {
        try TLVValue(credentials: bytes, "Pake3").pairingField(1, 32)
    }
}

extension TLVValue {
    fileprivate func pairingField(_ tag: UInt8, _ count: Int) throws(CredentialsError) -> [UInt8] {
        guard let bytes = self[tag]?.octets, bytes.count == count else {
            throw CredentialsError(.malformed, "a pairing message: field \(tag) is not \(count) bytes")
        }
        return bytes
    }

    fileprivate func pairingNumber(_ tag: UInt8) throws(CredentialsError) -> UInt16 {
        guard let number = self[tag]?.unsigned, let short = UInt16(exactly: number) else {
            throw CredentialsError(.malformed, "a pairing message: field \(tag) is not a 16-bit number")
        }
        return short
    }
}
