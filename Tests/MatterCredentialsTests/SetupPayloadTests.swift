import MatterModel
import MatterTLV
import Testing

@testable import MatterCredentials

@Suite struct SetupPayloadTests {
    let known: SetupPayload

    init() throws { known = SetupPayload(discriminator: try Discriminator(long: 3840), passcode: try Passcode(20_202_021)) }

    private func code(_ text: String) -> CredentialsError.Code? {
        do throws(CredentialsError) {
            _ = try SetupPayload(text)
            return nil
        } catch { return error.code }
    }

    @Test func theKnownManualCode() throws {
        #expect(known.manualCode == "34970112332")
        #expect(known.manualCodeWithDashes == "3497-011-2332")
        for text in ["34970112332", "3497-011-2332", " 3497 011 2332\n"] {
            let read = try SetupPayload(text)
            #expect(read.passcode.value == 20_202_021 && read.discriminator == .short(15))
            #expect(read.vendorID == nil && read.productID == nil && read.discovery == nil && read.flow == .standard)
            #expect(read.discriminator.matches(3840) && !read.discriminator.matches(0x0F0))
        }
    }

    /// Read with another implementation's tools (the CHIP SDK's public example device).
    @Test func theKnownQRCode() throws {
        let text = "MT:Y.K9042C00KA0648G00"
        let read = try SetupPayload(text)
        #expect(read.vendorID == 0xFFF1 && read.productID == 0x8000)
        #expect(read.passcode.value == 20_202_021 && read.discriminator == .long(3840))
        #expect(read.qrCode == text)
        #expect(read.manualCode == "34970112332")
    }

    @Test(arguments: 0..<200) func bothFormsRoundTrip(_ i: Int) throws {
        let vendor = VendorID(UInt16(truncatingIfNeeded: i &* 40_503))
        let payload = SetupPayload(
            vendorID: vendor, productID: UInt16(truncatingIfNeeded: i &* 12_345), flow: [.standard, .userIntent, .custom][i % 3],
            discovery: .init(rawValue: UInt8(truncatingIfNeeded: i)),
            discriminator: .long(Discriminator.ofFleet(index: i, seed: 7)), passcode: .random(),
            additionalData: i % 4 == 0 ? .structure([.init(0, .utf8("SN-\(i)")), .init(1, .unsigned(UInt64(i)))]) : nil)
        let read = try SetupPayload(payload.qrCode)
        #expect(read == payload)
        #expect(read.serialNumber == (i % 4 == 0 ? "SN-\(i)" : nil))

        let manual = try SetupPayload(payload.manualCodeWithDashes)
        #expect(manual.passcode == payload.passcode && manual.discriminator == .short(payload.discriminator.upper))
        #expect(payload.manualCode.count == (payload.flow == .standard ? 11 : 21))
        if payload.flow != .standard { #expect(manual.vendorID == payload.vendorID && manual.productID == payload.productID) }
    }

    @Test func mistakesAreNamed() throws {
        #expect(code("3497011233") == .wrongLength)
        #expect(code("349701123321") == .wrongLength)
        #expect(code("") == .wrongLength)
        #expect(code("74970112332") == .wrongLength, "the first digit announces 21")
        #expect(code("34970112333") == .wrongCheckDigit)
        #expect(code("3497011233x") == .invalidCharacter)
        #expect(code("3497011233٢") == .invalidCharacter, "a digit, but not an ASCII one")
        #expect(code("94970112332") == .unsupported)
        #expect(code("MT:Y.K9042C00KA0648G0") == .wrongLength)
        #expect(code("MT:") == .wrongLength)
        #expect(code("MT:Y.K9042C00KA0648G0$") == .invalidCharacter)
        #expect(code("MT:.............") == .malformed, "a group beyond 24 bits")
        #expect(code("MT:Y.K9042C00KA0648G00*Y.K9042C00KA0648G00") == .unsupported)
        #expect(code("MT:Y.K9042C00KA0648G000") == .malformed, "additional data that is no TLV structure")
    }

    /// The known code with one bit of its first eleven bytes changed.
    @Test func fieldsOutsideTheirRangeAreNamed() throws {
        let bytes = try Base38.decode("Y.K9042C00KA0648G00")
        func changed(_ byte: Int, _ bits: UInt8) -> String {
            var bytes = bytes
            bytes[byte] |= bits
            return "MT:" + Base38.encode(bytes)
        }
        #expect(code("MT:" + Base38.encode(bytes)) == nil)
        #expect(code(changed(0, 0x01)) == .unsupported, "version 1")
        #expect(code(changed(4, 0x18)) == .unsupported, "flow 3")
        #expect(code(changed(10, 0x80)) == .malformed, "padding")
        #expect(code(changed(10, 0x0F)) == .outOfRange, "a passcode beyond 99999998")
        #expect(throws: CredentialsError.self) { try SetupPayload(qrCode: "MX:Y.K9042C00KA0648G00") }
        // Digits beyond their fields' bits, with the right check digit.
        for digits: [UInt8] in [
            [3, 9, 9, 9, 9, 9, 0, 0, 0, 1], [3, 0, 0, 0, 0, 1, 9, 9, 9, 9],
            [7, 0, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9, 9, 9, 0, 0, 0, 0, 1],
            [7, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9],
        ] {
            let text = (digits + [Verhoeff.checkDigit(digits)]).map(String.init).joined()
            #expect(code(text) == .outOfRange, "\(text)")
        }
    }

    /// Every single wrong digit and every swap of two different neighbours is found, in codes of both lengths.
    @Test(arguments: [SetupPayload.CommissioningFlow.standard, .custom]) func checkDigitFindsTypingMistakes(
        _ flow: SetupPayload.CommissioningFlow
    ) throws {
        var payload = known
        (payload.flow, payload.vendorID, payload.productID) = (flow, 0xFFF1, 0x8001)
        let digits = payload.manualCode.utf8.map { $0 - 0x30 }
        #expect(Verhoeff.isValid(digits))
        for i in digits.indices {
            for wrong in UInt8(0)...9 where wrong != digits[i] {
                var typed = digits
                typed[i] = wrong
                #expect(!Verhoeff.isValid(typed))
            }
            if i > 0, digits[i] != digits[i - 1] {
                var typed = digits
                typed.swapAt(i, i - 1)
                #expect(!Verhoeff.isValid(typed))
            }
        }
    }

    /// The worked example that descriptions of the algorithm share: 236 has the check digit 3.
    @Test func verhoeffMatchesThePublishedExample() {
        #expect(Verhoeff.checkDigit([2, 3, 6]) == 3)
        #expect(Verhoeff.isValid([2, 3, 6, 3]) && !Verhoeff.isValid([2, 3, 6, 4]))
    }

    @Test func forbiddenPasscodesAreRefused() throws {
        for value in Passcode.forbidden {
            #expect(throws: CredentialsError.self) { try Passcode(value) }
        }
        #expect(Passcode.forbidden.count == 12)
        for value: UInt32 in [100_000_000, 0x7FF_FFFF, .max] {
            #expect(throws: CredentialsError.self) { try Passcode(value) }
        }
        for value: UInt32 in [1, 99_999_998, 11_111_112] { #expect(try Passcode(value).value == value) }
        #expect(try Passcode(1).digits == "00000001")
        let shown = try Passcode(1234)
        #expect(!"\(shown)".contains("1234") && !String(reflecting: shown).contains("1234"))
        // A code that carries one is refused too: the same bits with passcode 12345678.
        var digits: [UInt8] = [3]
        for (value, width) in [(3 << 14 | 12_345_678 & 0x3FFF, 5), (12_345_678 >> 14, 4)] {
            let text = String(value)
            digits += (String(repeating: "0", count: width - text.count) + text).utf8.map { $0 - 0x30 }
        }
        digits.append(Verhoeff.checkDigit(digits))
        #expect(code(digits.map(String.init).joined()) == .forbiddenPasscode)
    }

    @Test func randomPasscodesAreValidAndDiffer() {
        let passcodes = (0..<200).map { _ in Passcode.random() }
        #expect(Set(passcodes).count >= 199)
        #expect(passcodes.allSatisfy { Passcode.range.contains($0.value) && !Passcode.forbidden.contains($0.value) })
    }

    @Test(arguments: [0, 1, 42, UInt64.max]) func fleetDiscriminatorsAreDistinctAndSpread(seed: UInt64) {
        let all = (0..<4096).map { Discriminator.ofFleet(index: $0, seed: seed) }
        #expect(Set(all).count == 4096 && all.allSatisfy { $0 < 4096 })
        for start in stride(from: 0, to: 4080, by: 7) { #expect(Set(all[start..<start + 16].map { $0 >> 8 }).count == 16) }
        #expect(all == (0..<4096).map { Discriminator.ofFleet(index: $0, seed: seed) })
        #expect(Discriminator.ofFleet(index: -1, seed: seed) < 4096 && Discriminator.ofFleet(index: .max, seed: seed) < 4096)
    }

    @Test func base38KnownValues() throws {
        #expect(Base38.encode([]) == "" && Base38.encode([10]) == "A0" && Base38.encode([255]) == "R6")
        #expect(Base38.encode([255, 255]) == "NE71" && Base38.encode([255, 255, 255]) == "PLS18")
        for count in 0..<30 {
            let bytes = Crypto.random(count)
            #expect(try Base38.decode(Base38.encode(bytes)) == bytes)
        }
    }
}
