import MatterModel
import MatterTLV
import Testing

@Suite struct PayloadTests {
    /// Bytes that another implementation of Matter makes of the same commands.
    @Test func payloadsHaveTheBytesOfOthers() throws {
        let move = LevelControl.MoveToLevel(level: 128, transitionTime: 10, optionsMask: [], optionsOverride: [])
        try expect(move, "1524008024010a24020024030018")
        try expect(DoorLock.UnlockDoor(pinCode: Array("1234".utf8)), "153000043132333418")
        try expect(Thermostat.SetpointRaiseLower(mode: .heat, amount: -5), "152400002001fb18")
        try expect(WindowCovering.GoToLiftPercentage(liftPercent100thsValue: 5000), "152500881318")
    }

    private func expect<Payload: CommandPayload>(_ payload: Payload, _ hex: String) throws {
        #expect(hexadecimal(payload.tlv.encoded()) == hex)
        #expect(try Payload(tlv: TLVValue(decoding: bytes(hex))) == payload)
    }

    @Test func absentNullAndPresentAreThreeThings() throws {
        var credential = DoorLock.SetCredential(
            operationType: .add, credential: .init(credentialType: .pin, credentialIndex: 1), credentialData: [1, 2],
            userIndex: .null,
            userStatus: .null, userType: .null)
        #expect(credential.tlv[3] == .null)
        credential.userIndex = 7
        #expect(credential.tlv[3] == .unsigned(7))
        let unlock = DoorLock.UnlockDoor()
        #expect(unlock.tlv == .structure([]))
        #expect(try DoorLock.UnlockDoor(tlv: .structure([])).pinCode == nil)
    }

    @Test func whatIsMalformedIsAnInvalidCommand() {
        let missing = TLVValue.structure([TLVElement(0, .unsigned(128))])
        #expect(throws: Status(.invalidCommand)) { try LevelControl.MoveToLevel(tlv: missing) }
        let signed = TLVValue.structure([TLVElement(0, .signed(0))])
        #expect(throws: Status(.invalidCommand)) { try WindowCovering.GoToLiftPercentage(tlv: signed) }
        let tooLarge = TLVValue.structure([TLVElement(0, .unsigned(70_000))])
        #expect(throws: Status(.constraintError)) { try WindowCovering.GoToLiftPercentage(tlv: tooLarge) }
        #expect(throws: Status(.invalidCommand)) { try OnOff.On(tlv: .array([])) }
        #expect(throws: Status(.invalidDataType)) { try AccessControl.AccessControlEntryStruct(tlv: .structure([])) }
    }

    @Test func fieldsOfLaterRevisionsAreIgnored() throws {
        let more = TLVValue.structure([
            TLVElement(0, .unsigned(5)), TLVElement(9, .utf8("new")), TLVElement(.commonProfile(1), .null),
        ])
        #expect(try WindowCovering.GoToLiftPercentage(tlv: more).liftPercent100thsValue == 5)
    }

    @Test func anAccessControlEntryRoundTrips() throws {
        let entry = AccessControl.AccessControlEntryStruct(
            privilege: .administer, authMode: .case, subjects: .value([112_233]),
            targets: .value([.init(cluster: .value(OnOff.id), endpoint: .null, deviceType: .null)]), fabricIndex: 1)
        #expect(entry.tlv[3] == .array([.unsigned(112_233)]))
        #expect(entry.tlv[254] == .unsigned(1))
        #expect(try AccessControl.AccessControlEntryStruct(tlv: entry.tlv) == entry)
        #expect(try [AccessControl.AccessControlEntryStruct](tlv: .array([entry.tlv])) == [entry])
    }

    @Test func valuesOfLaterRevisionsSurvive() throws {
        let mode = try Thermostat.SystemModeEnum(tlv: .unsigned(77))
        #expect(!mode.isDefined)
        #expect(mode.tlv == .unsigned(77))
        #expect(Thermostat.SystemModeEnum.heat.description == "Heat")
    }

    @Test func someBitsHoldNumbers() {
        var status: WindowCovering.OperationalStatusBitmap = []
        status.global = 1
        status.lift = 1
        #expect(status.rawValue == 5)
        status.lift = 7
        #expect(status.rawValue == 13)
        #expect(status.tilt == 0)
    }

    @Test func bytesAreAnOctetStringUnlessTheTypeIsAListOfIntegers() throws {
        let membership = ScenesManagement.GetSceneMembershipResponse(
            status: .success, capacity: 3, groupID: 1, sceneList: [1, 2])
        #expect(membership.tlv[3] == .array([.unsigned(1), .unsigned(2)]))
        #expect([UInt8]([1, 2]).tlv == .octets([1, 2]))
    }

    @Test func requestsKnowTheirAnswers() {
        #expect(OperationalCredentials.AddNOC.Response.self == OperationalCredentials.NOCResponse.self)
        #expect(OnOff.On.Response.self == StatusOnly.self)
        #expect(DoorLock.LockDoor.isTimed)
        #expect(DoorLock.LockDoor.cluster == DoorLock.id)
        #expect(DoorLock.LockDoor.id == DoorLock.Commands.lockDoor)
        #expect(Switch.InitialPress.id == Switch.Events.initialPress)
        #expect(DoorLock.DoorLockAlarm.priority == .critical)
    }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
}
