import MatterInteraction
import MatterModel
import MatterTLV

// MARK: - Credentials (Matter Application Clusters, 5.2.10.36 to 5.2.10.40)

extension DoorLockCluster {
    typealias CredentialType = DoorLock.CredentialTypeEnum

    /// The indices that a type of credential may have; nil when the lock does not know the type.
    func indices(of type: CredentialType) -> ClosedRange<UInt16>? {
        func upTo(_ attribute: AttributeID) -> ClosedRange<UInt16>? {
            let most = UInt16(clamping: limit(attribute))
            return most >= 1 ? 1...most : nil
        }
        switch type {
        case .programmingPIN: return hasPINs ? 0...0 : nil
        case .pin: return hasPINs ? upTo(Ids.numberOfPINUsersSupported) : nil
        case .rfid: return hasFeature(Spec.Feature.rfidCredential.rawValue) ? upTo(Ids.numberOfRFIDUsersSupported) : nil
        case .aliroCredentialIssuerKey: return hasAliro ? upTo(Ids.numberOfAliroCredentialIssuerKeysSupported) : nil
        case .aliroEvictableEndpointKey, .aliroNonEvictableEndpointKey:
            return hasAliro ? upTo(Ids.numberOfAliroEndpointKeysSupported) : nil
        default: return nil
        }
    }

    private var hasAliro: Bool { hasFeature(Spec.Feature.aliroProvisioning.rawValue) }

    private func lengths(of type: CredentialType) -> ClosedRange<UInt64> {
        if Self.isAliro(type) { return 65...65 }
        let (least, most) =
            type == .rfid
            ? (limit(Ids.minRFIDCodeLength), limit(Ids.maxRFIDCodeLength))
            : (limit(Ids.minPINCodeLength), limit(Ids.maxPINCodeLength))
        return least...max(least, most)
    }

    func isValidLength(_ data: [UInt8], of type: CredentialType) -> Bool { lengths(of: type).contains(UInt64(data.count)) }

    /// The next index that is free; programming PINs have only one.
    func nextFree(_ type: CredentialType, after index: UInt16) -> UInt16? {
        guard type != .programmingPIN, let indices = indices(of: type), index < indices.upperBound else { return nil }
        return (max(index + 1, indices.lowerBound)...indices.upperBound).first {
            credentials[Credential(credentialType: type, credentialIndex: $0)] == nil
        }
    }

    func dataType(of type: CredentialType) -> Spec.LockDataTypeEnum {
        switch type {
        case .programmingPIN: .programmingCode
        case .pin: .pin
        case .rfid: .rfid
        case .aliroCredentialIssuerKey: .aliroCredentialIssuerKey
        case .aliroEvictableEndpointKey: .aliroEvictableEndpointKey
        case .aliroNonEvictableEndpointKey: .aliroNonEvictableEndpointKey
        default: .unspecified
        }
    }

    /// Enters a credential and ties it to its user.
    func attach(_ key: Credential, _ data: [UInt8], to index: UInt16, by fabric: FabricIndex?) {
        credentials[key] = LockCredential(data: data, user: index, creator: fabric, modifier: fabric)
        guard var user = users[index] else { return }
        user.credentials.append(key)
        user.modifier = fabric
        users[index] = user
    }

    /// The credential of a type with that code.
    func credential(_ type: CredentialType, _ data: [UInt8]) -> Credential? {
        credentials.entries.first { $0.key.credentialType == type && $0.value.data == data }?.key
    }

    func setCredential(_ request: Spec.SetCredential, _ author: Author) -> Spec.SetCredentialResponse {
        let key = request.credential
        // The next free one is told whatever comes of it.
        let next = nextFree(key.credentialType, after: key.credentialIndex)
        do throws(Status) {
            let created = try apply(request, author)
            return Spec.SetCredentialResponse(status: .success, userIndex: Nullable(created), nextCredentialIndex: Nullable(next))
        } catch {
            // DUPLICATE and OCCUPIED are the cluster's own codes.
            let code = error.clusterStatus.map { StatusCode(rawValue: $0) } ?? error.code
            return Spec.SetCredentialResponse(status: code, userIndex: .null, nextCredentialIndex: Nullable(next))
        }
    }

    /// The user that was created, if one was.
    private func apply(_ request: Spec.SetCredential, _ author: Author) throws(Status) -> UInt16? {
        let (key, type, data) = (request.credential, request.credential.credentialType, request.credentialData)
        guard let indices = indices(of: type), indices.contains(key.credentialIndex) else {
            throw Status(.invalidCommand, "no such slot")
        }
        guard isValidLength(data, of: type) else { throw Status(.invalidCommand, "the length of the code") }
        if type != .programmingPIN, let twin = credential(type, data), twin != key {
            throw Status(.failure, clusterStatus: Spec.StatusCodeEnum.duplicate.rawValue)
        }
        let (status, userType) = (request.userStatus.value, request.userType.value)
        if let status, status != .occupiedEnabled, status != .occupiedDisabled {
            throw Status(.invalidCommand, "UserStatus \(status)")
        }
        if let userType, !userType.isDefined { throw Status(.invalidCommand, "UserType \(userType)") }
        switch request.operationType {
        case .add:
            guard credentials[key] == nil else { throw Status(.failure, clusterStatus: Spec.StatusCodeEnum.occupied.rawValue) }
            try checkEndpointKeys(type)
            return try add(key, data, request.userIndex.value, status, userType, author)
        case .modify:
            try modify(key, data, request.userIndex.value, hasUserFields: status != nil || userType != nil, author)
            return nil
        default: throw Status(.invalidCommand, "OperationType \(request.operationType)")
        }
    }

    /// Endpoint keys of both kinds share their places (5.2.10.37.1).
    private func checkEndpointKeys(_ type: CredentialType) throws(Status) {
        let kinds: [CredentialType] = [.aliroEvictableEndpointKey, .aliroNonEvictableEndpointKey]
        guard kinds.contains(type) else { return }
        let count = credentials.keys.count { kinds.contains($0.credentialType) }
        guard UInt64(count) < limit(Ids.numberOfAliroEndpointKeysSupported) else {
            throw Status(.resourceExhausted, "no place for another endpoint key")
        }
    }

    private func add(
        _ key: Credential, _ data: [UInt8], _ index: UInt16?, _ status: Spec.UserStatusEnum?, _ type: Spec.UserTypeEnum?,
        _ author: Author
    ) throws(Status) -> UInt16? {
        if let index {
            guard isUserIndex(index), let user = users[index] else { throw Status(.invalidCommand, "there is no user \(index)") }
            guard status == nil, type == nil else { throw Status(.invalidCommand, "the user has its status and type") }
            guard user.creator == author.fabric else { throw Status(.invalidCommand, "the user belongs to another fabric") }
            guard UInt64(user.credentials.count) < limit(Ids.numberOfCredentialsSupportedPerUser) else {
                throw Status(.resourceExhausted)
            }
            attach(key, data, to: index, by: author.fabric)
            emitUserChange(dataType(of: key.credentialType), .add, user: index, data: key.credentialIndex, author)
            return nil
        }
        guard type != .programmingUser || key.credentialType == .programmingPIN else {
            throw Status(.invalidCommand, "only the programming PIN has a programming user")
        }
        guard let index = nextFreeUser else { throw Status(.resourceExhausted, "no user slot is free") }
        users[index] = LockUser(
            status: status ?? .occupiedEnabled, type: type ?? .unrestrictedUser, creator: author.fabric, modifier: author.fabric)
        emitUserChange(.userIndex, .add, user: index, data: index, author)
        attach(key, data, to: index, by: author.fabric)
        emitUserChange(dataType(of: key.credentialType), .add, user: index, data: key.credentialIndex, author)
        return index
    }

    private func modify(_ key: Credential, _ data: [UInt8], _ index: UInt16?, hasUserFields: Bool, _ author: Author)
        throws(Status)
    {
        guard var credential = credentials[key] else { throw Status(.invalidCommand, "there is no such credential") }
        guard index != nil || key.credentialType == .programmingPIN else {
            throw Status(.invalidCommand, "whose credential it is")
        }
        if let index, index != credential.user {
            guard isUserIndex(index), users[index] != nil else { throw Status(.invalidCommand, "there is no user \(index)") }
            // It is another user's credential (5.2.10.37.1).
            throw Status(.failure, clusterStatus: Spec.StatusCodeEnum.occupied.rawValue)
        }
        guard !hasUserFields else { throw Status(.invalidCommand, "the user has its status and type") }
        guard credential.creator == author.fabric, users[credential.user]?.creator == author.fabric else {
            throw Status(.invalidCommand, "the credential belongs to another fabric")
        }
        (credential.data, credential.modifier) = (data, author.fabric)
        credentials[key] = credential
        if var user = users[credential.user] {
            user.modifier = author.fabric
            users[credential.user] = user
        }
        emitUserChange(dataType(of: key.credentialType), .modify, user: credential.user, data: key.credentialIndex, author)
    }

    func credentialStatus(_ key: Credential) -> Spec.GetCredentialStatusResponse {
        let credential = indices(of: key.credentialType)?.contains(key.credentialIndex) == true ? credentials[key] : nil
        let next = credentials.keys.filter {
            $0.credentialType == key.credentialType && $0.credentialIndex > key.credentialIndex
        }.map(\.credentialIndex).min()
        // Only public keys are told; locks without them do not have the field.
        let told = Self.isAliro(key.credentialType) ? credential?.data : nil
        // The programming PIN's user is not told (5.2.10.39.2).
        let user = key.credentialType == .programmingPIN ? nil : credential?.user
        return Spec.GetCredentialStatusResponse(
            credentialExists: credential != nil, userIndex: Nullable(user),
            creatorFabricIndex: Nullable(credential?.creator),
            lastModifiedFabricIndex: Nullable(credential?.modifier), nextCredentialIndex: Nullable(next),
            credentialData: hasAliro ? Nullable(told) : nil)
    }

    /// One, all of a type, or with nil all there are, save the programming PIN, which cannot be cleared by itself.
    func clearCredential(_ key: Credential?, _ author: Author) throws(Status) {
        guard let key else {
            let types: [CredentialType] = [
                .pin, .rfid, .aliroCredentialIssuerKey, .aliroEvictableEndpointKey, .aliroNonEvictableEndpointKey,
            ]
            for type in types where indices(of: type) != nil { clearAll(type, author) }
            return
        }
        guard key.credentialType != .programmingPIN, let indices = indices(of: key.credentialType) else {
            throw Status(.invalidCommand, "no credential that can be cleared")
        }
        if key.credentialIndex == Self.all { return clearAll(key.credentialType, author) }
        guard indices.contains(key.credentialIndex) else {
            throw Status(.invalidCommand, "CredentialIndex \(key.credentialIndex)")
        }
        guard let user = credentials[key]?.user else { return }
        let isLast = detach(key, author)
        emitUserChange(dataType(of: key.credentialType), .clear, user: user, data: key.credentialIndex, author)
        if isLast { emitUserChange(.userIndex, .clear, user: user, data: user, author) }
    }

    private func clearAll(_ type: CredentialType, _ author: Author) {
        let keys = credentials.keys.filter { $0.credentialType == type }.sorted { $0.credentialIndex < $1.credentialIndex }
        var gone: [UInt16] = []
        for key in keys {
            guard let user = credentials[key]?.user else { continue }
            if detach(key, author) { gone.append(user) }
        }
        emitUserChange(dataType(of: type), .clear, user: Self.all, data: Self.all, author)
        for user in gone { emitUserChange(.userIndex, .clear, user: user, data: user, author) }
    }

    /// Takes a credential away; a user without any goes too. Whether it went.
    private func detach(_ key: Credential, _ author: Author) -> Bool {
        guard let index = credentials[key]?.user else { return false }
        credentials[key] = nil
        guard var user = users[index] else { return false }
        user.credentials.removeAll { $0 == key }
        guard !user.credentials.isEmpty else {
            removeUser(index)
            return true
        }
        user.modifier = author.fabric
        users[index] = user
        return false
    }
}
