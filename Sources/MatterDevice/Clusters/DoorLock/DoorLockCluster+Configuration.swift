import MatterModel
import MatterTLV

/// What a profile may not say of a lock's users and codes: what SetUser and SetCredential would refuse.
extension DoorLockCluster {
    /// A code that a user of the profile has.
    private struct Code {
        var type: CredentialType
        var data: [UInt8]
        var place: [ConfigurationProblem.Step]
    }

    func userProblems(_ given: Set<AttributeID>) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        func tell(_ place: [ConfigurationProblem.Step], _ message: String, _ limits: Set<AttributeID> = []) {
            problems.append(ConfigurationProblem(.parameter(place), message, limits: limits))
        }
        for (low, high) in [(Ids.minPINCodeLength, Ids.maxPINCodeLength), (Ids.minRFIDCodeLength, Ids.maxRFIDCodeLength)]
        where has(low) && has(high) && limit(low) > limit(high) {
            guard let culprit = [low, high].first(where: given.contains) else { continue }
            let expected = culprit == low ? "at most \(bound(high))" : "at least \(bound(low))"
            problems.append(
                ConfigurationProblem(
                    .attribute(culprit), "\(text(of: culprit)) is not allowed: \(expected) is expected", limits: [low, high]))
        }
        var known: [Code] = []
        for (place, entry) in (configuration.parameters["users"]?.array ?? []).enumerated() {
            let user: [ConfigurationProblem.Step] = [.member("users"), .entry(place)]
            if hasUsers, place >= limit(Ids.numberOfTotalUsersSupported) {
                tell(
                    user, "the lock takes no more users: at most \(bound(Ids.numberOfTotalUsersSupported)) are expected",
                    [Ids.numberOfTotalUsersSupported])
                break
            }
            if let name = entry[0]?.text, name.utf8.count > 10 {
                tell(user + [.member("name")], "'\(name)' has \(name.utf8.count) bytes; at most 10 are allowed")
            }
            let codes = codes(entry, user)
            for code in codes {
                if let fault = fault(code, known) { tell(code.place, fault.message, fault.limits) }
                known.append(code)
            }
            let most = limit(Ids.numberOfCredentialsSupportedPerUser)
            if hasUsers, has(Ids.numberOfCredentialsSupportedPerUser), codes.count > most {
                tell(
                    user, "the user has \(codes.count) credentials: at most \(bound(Ids.numberOfCredentialsSupportedPerUser)) are expected",
                    [Ids.numberOfCredentialsSupportedPerUser])
            }
        }
        return problems + readOnlyProblems()
    }

    private func codes(_ user: TLVValue, _ place: [ConfigurationProblem.Step]) -> [Code] {
        let pins = (user[1]?.array ?? []).enumerated().map { index, value in
            Code(type: .pin, data: Array((value.text ?? "").utf8), place: place + [.member("pins"), .entry(index)])
        }
        let rfids = (user[2]?.array ?? []).enumerated().map { index, value in
            Code(type: .rfid, data: value.octets ?? [], place: place + [.member("rfids"), .entry(index)])
        }
        return pins + rfids
    }

    /// Codes themselves are not told: messages end up in logs.
    private func fault(_ code: Code, _ known: [Code]) -> (message: String, limits: Set<AttributeID>)? {
        let isPIN = code.type == .pin
        let kind = isPIN ? "PIN" : "RFID"
        let feature: Spec.Feature = isPIN ? .pinCredential : .rfidCredential
        guard hasFeature(feature.rawValue) else {
            return ("the lock takes no \(kind)s: the feature \(isPIN ? "PINCredential" : "RFIDCredential") is expected", [])
        }
        let (least, most) =
            isPIN ? (Ids.minPINCodeLength, Ids.maxPINCodeLength) : (Ids.minRFIDCodeLength, Ids.maxRFIDCodeLength)
        // Of lengths that are out of order themselves the profile hears already.
        if limit(least) <= limit(most), !isValidLength(code.data, of: code.type) {
            let found = "the \(kind) has \(code.data.count) \(isPIN ? "characters" : "bytes")"
            return ("\(found): \(bound(least)) to \(bound(most)) are expected", [least, most])
        }
        let alike = known.filter { $0.type == code.type }
        if let twin = alike.first(where: { $0.data == code.data }) {
            return ("the \(kind) is that of \(Self.text(twin.place)) already: each code belongs to one user", [])
        }
        let number = isPIN ? Ids.numberOfPINUsersSupported : Ids.numberOfRFIDUsersSupported
        guard alike.count >= limit(number) else { return nil }
        return ("the lock takes no more \(kind)s: at most \(bound(number)) are expected", [number])
    }

    /// `MinPINCodeLength = 4`.
    private func bound(_ attribute: AttributeID) -> String { "\(elements.attributes[attribute]?.name ?? "") = \(limit(attribute))" }

    /// `users[0].pins[1]`.
    private static func text(_ place: [ConfigurationProblem.Step]) -> String {
        place.reduce("") { text, step in
            switch step {
            case .member(let name): text.isEmpty ? name : "\(text).\(name)"
            case .entry(let index): "\(text)[\(index)]"
            }
        }
    }

    private func readOnlyProblems() -> [ConfigurationProblem] {
        (configuration.parameters["readOnly"]?.array ?? []).enumerated().compactMap { index, value in
            let name = value.text ?? ""
            let choices = definition.attributes.filter(\.writeIsOptional).map(\.name)
            guard !choices.contains(name) else { return nil }
            let hint = DataModel.didYouMean(name, among: choices)
            return ConfigurationProblem(
                .parameter([.member("readOnly"), .entry(index)]), "there is no attribute '\(name)' whose write access is optional\(hint)")
        }
    }
}
