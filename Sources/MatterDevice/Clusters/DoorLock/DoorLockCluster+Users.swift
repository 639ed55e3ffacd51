import MatterInteraction
import MatterModel
import MatterTLV

// MARK: - Users (Matter Application Clusters, 5.2.10.32 to 5.2.10.35)

extension DoorLockCluster {
    /// All users, in commands that take an index.
    static let all: UInt16 = 0xFFFE

    func isUserIndex(_ index: UInt16) -> Bool { index >= 1 && UInt64(index) <= limit(Ids.numberOfTotalUsersSupported) }

    private func check(_ status: Spec.UserStatusEnum?, _ type: Spec.UserTypeEnum?, _ rule: Spec.CredentialRuleEnum?)
        throws(Status)
    {
        if let status, status != .occupiedEnabled, status != .occupiedDisabled {
            throw Status(.invalidCommand, "UserStatus \(status)")
        }
        // The schedule types of earlier revisions are still taken.
        if let type, !type.isDefined || type == .programmingUser { throw Status(.invalidCommand, "UserType \(type)") }
        // A rule that CredentialRulesSupport does not name is kept all the same, as the public suites expect of their sample.
        if let rule, !rule.isDefined { throw Status(.invalidCommand, "CredentialRule \(rule)") }
    }

    func setUser(_ request: Spec.SetUser, _ author: Author) throws(Status) {
        let (index, status, type) = (request.userIndex, request.userStatus.value, request.userType.value)
        guard isUserIndex(index) else { throw Status(.invalidCommand, "UserIndex \(index)") }
        if let name = request.userName.value, name.utf8.count > 10 { throw Status(.invalidCommand, "UserName is too long") }
        try check(status, type, request.credentialRule.value)
        switch request.operationType {
        case .add:
            guard users[index] == nil else { throw Status(.failure, clusterStatus: Spec.StatusCodeEnum.occupied.rawValue) }
            users[index] = LockUser(
                name: request.userName.value ?? "", uniqueID: request.userUniqueID.value.flatMap { $0 == .max ? nil : $0 },
                status: status ?? .occupiedEnabled, type: type ?? .unrestrictedUser,
                rule: request.credentialRule.value ?? .single,
                creator: author.fabric, modifier: author.fabric)
        case .modify:
            guard var user = users[index] else { throw Status(.invalidCommand, "there is no user \(index)") }
            let isForeign = user.creator != author.fabric
            if isForeign, request.userName.value != nil || request.userUniqueID.value != nil {
                throw Status(.invalidCommand, "the user belongs to another fabric")
            }
            if let name = request.userName.value { user.name = name }
            if let id = request.userUniqueID.value { user.uniqueID = id == .max ? nil : id }
            if let status { (user.status, user.expiry) = (status, nil) }
            if let type { (user.type, user.expiry) = (type, nil) }
            if let rule = request.credentialRule.value { user.rule = rule }
            user.modifier = author.fabric
            users[index] = user
        default: throw Status(.invalidCommand, "OperationType \(request.operationType)")
        }
        emitUserChange(.userIndex, request.operationType, user: index, data: index, author)
    }

    func getUser(_ index: UInt16) throws(Status) -> Spec.GetUserResponse {
        guard isUserIndex(index) else { throw Status(.invalidCommand, "UserIndex \(index)") }
        let user = users[index]
        return Spec.GetUserResponse(
            userIndex: index, userName: Nullable(user?.name), userUniqueID: Nullable(user?.uniqueID),
            userStatus: Nullable(user?.status),
            userType: Nullable(user?.type), credentialRule: Nullable(user?.rule), credentials: Nullable(user?.credentials),
            creatorFabricIndex: Nullable(user?.creator), lastModifiedFabricIndex: Nullable(user?.modifier),
            nextUserIndex: Nullable(users.keys.filter { $0 > index }.min()))
    }

    func clearUser(_ index: UInt16, _ author: Author) throws(Status) {
        guard index == Self.all || isUserIndex(index) else { throw Status(.invalidCommand, "UserIndex \(index)") }
        let gone = index == Self.all ? users.keys.sorted() : [index]
        for user in gone { removeUser(user) }
        if index == Self.all || !gone.isEmpty { emitUserChange(.userIndex, .clear, user: index, data: index, author) }
    }

    /// Removes a user with whatever belongs to it.
    func removeUser(_ index: UInt16) {
        users[index] = nil
        credentials.removeAll { $1.user == index }
        weekDays.removeAll { key, _ in key.user == index }
        yearDays.removeAll { key, _ in key.user == index }
    }

    var nextFreeUser: UInt16? {
        let most = UInt16(clamping: limit(Ids.numberOfTotalUsersSupported))
        guard most >= 1 else { return nil }
        return (1...most).first { users[$0] == nil }
    }
}
