import MatterInteraction
import MatterModel
import MatterTLV

// MARK: - Codes in slots, for locks without users (Matter Application Clusters, 5.2.10.4 to 5.2.10.11 and 5.2.10.24 to 5.2.10.31)

extension DoorLockCluster {
    /// The slots of PINs and tags. The user of a slot has the slot's index.
    var slotIndices: ClosedRange<UInt16> {
        let most = max(indices(of: .pin)?.upperBound ?? 1, indices(of: .rfid)?.upperBound ?? 1)
        return 1...most
    }

    /// Nil when the command is none of these.
    func runSlotCommand(
        _ command: CommandID, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome? {
        typealias Commands = Spec.Commands
        switch command {
        case Commands.setPINCode:
            let request = try Spec.SetPINCode(tlv: fields)
            try setSlot(.pin, request.userID, request.pin, request.userStatus.value, request.userType.value, try author(context))
        case Commands.setRFIDCode:
            let request = try Spec.SetRFIDCode(tlv: fields)
            try setSlot(
                .rfid, request.userID, request.rfidCode, request.userStatus.value, request.userType.value, try author(context))
        case Commands.getPINCode:
            let (index, code) = (try Spec.GetPINCode(tlv: fields).userID, try slot(.pin, Spec.GetPINCode(tlv: fields).userID))
            // Whether codes may be read back is the owner's decision (Matter Application Clusters, 5.2.9.35).
            let mayTell = has(Ids.sendPINOverTheAir) && value(Ids.sendPINOverTheAir) == .boolean(true)
            return .reply(
                Spec.GetPINCodeResponse(
                    userID: index, userStatus: .value(code?.user.status ?? .available), userType: Nullable(code?.user.type),
                    pinCode: Nullable(mayTell ? code?.data : nil)))
        case Commands.getRFIDCode:
            let (index, code) = (try Spec.GetRFIDCode(tlv: fields).userID, try slot(.rfid, Spec.GetRFIDCode(tlv: fields).userID))
            return .reply(
                Spec.GetRFIDCodeResponse(
                    userID: index, userStatus: .value(code?.user.status ?? .available), userType: Nullable(code?.user.type),
                    rfidCode: Nullable(code?.data)))
        case Commands.clearPINCode: try clearSlot(.pin, Spec.ClearPINCode(tlv: fields).pinSlotIndex)
        case Commands.clearAllPINCodes: try clearSlot(.pin, Self.all)
        case Commands.clearRFIDCode: try clearSlot(.rfid, Spec.ClearRFIDCode(tlv: fields).rfidSlotIndex)
        case Commands.clearAllRFIDCodes: try clearSlot(.rfid, Self.all)
        case Commands.setUserStatus:
            let request = try Spec.SetUserStatus(tlv: fields)
            guard request.userStatus == .occupiedEnabled || request.userStatus == .occupiedDisabled else {
                throw Status(.invalidCommand, "UserStatus \(request.userStatus)")
            }
            try change(request.userID) { $0.status = request.userStatus }
        case Commands.getUserStatus:
            let index = try Spec.GetUserStatus(tlv: fields).userID
            try checkSlot(index)
            return .reply(Spec.GetUserStatusResponse(userID: index, userStatus: users[index]?.status ?? .available))
        case Commands.setUserType:
            let request = try Spec.SetUserType(tlv: fields)
            guard request.userType.isDefined else { throw Status(.invalidCommand, "UserType \(request.userType)") }
            try change(request.userID) { $0.type = request.userType }
        case Commands.getUserType:
            let index = try Spec.GetUserType(tlv: fields).userID
            try checkSlot(index)
            return .reply(Spec.GetUserTypeResponse(userID: index, userType: users[index]?.type ?? .unrestrictedUser))
        default: return nil
        }
        return .success
    }

    private func checkSlot(_ index: UInt16) throws(Status) {
        guard slotIndices.contains(index) else { throw Status(.invalidCommand, "UserID \(index)") }
    }

    private func change(_ index: UInt16, _ body: (inout LockUser) -> Void) throws(Status) {
        try checkSlot(index)
        guard var user = users[index] else { throw Status(.failure, "there is no user \(index)") }
        body(&user)
        users[index] = user
    }

    private func slot(_ type: CredentialType, _ index: UInt16) throws(Status) -> (data: [UInt8], user: LockUser)? {
        guard indices(of: type)?.contains(index) == true else { throw Status(.invalidCommand, "UserID \(index)") }
        guard let code = credentials[Credential(credentialType: type, credentialIndex: index)], let user = users[code.user] else {
            return nil
        }
        return (code.data, user)
    }

    private func setSlot(
        _ type: CredentialType, _ index: UInt16, _ data: [UInt8], _ status: Spec.UserStatusEnum?, _ userType: Spec.UserTypeEnum?,
        _ author: Author
    ) throws(Status) {
        guard indices(of: type)?.contains(index) == true else { throw Status(.invalidCommand, "UserID \(index)") }
        guard isValidLength(data, of: type) else { throw Status(.invalidCommand, "the length of the code") }
        if let status, status != .occupiedEnabled, status != .occupiedDisabled {
            throw Status(.invalidCommand, "UserStatus \(status)")
        }
        if let userType, !userType.isDefined { throw Status(.invalidCommand, "UserType \(userType)") }
        let key = Credential(credentialType: type, credentialIndex: index)
        if let twin = credential(type, data), twin != key {
            throw Status(.failure, clusterStatus: Spec.StatusCodeEnum.duplicate.rawValue)
        }
        var user = users[index] ?? LockUser(creator: author.fabric)
        (user.status, user.type, user.modifier) = (status ?? .occupiedEnabled, userType ?? .unrestrictedUser, author.fabric)
        if !user.credentials.contains(key) { user.credentials.append(key) }
        users[index] = user
        credentials[key] = LockCredential(data: data, user: index, creator: author.fabric, modifier: author.fabric)
    }

    private func clearSlot(_ type: CredentialType, _ index: UInt16) throws(Status) {
        guard index == Self.all || indices(of: type)?.contains(index) == true else {
            throw Status(.invalidCommand, "index \(index)")
        }
        // In their order: what follows from it is told in events.
        let gone = credentials.keys.filter { $0.credentialType == type && (index == Self.all || $0.credentialIndex == index) }
        for key in gone.sorted(by: { $0.credentialIndex < $1.credentialIndex }) {
            guard let owner = credentials[key]?.user else { continue }
            credentials[key] = nil
            guard var user = users[owner] else { continue }
            user.credentials.removeAll { $0 == key }
            if user.credentials.isEmpty { removeUser(owner) } else { users[owner] = user }
        }
    }
}
