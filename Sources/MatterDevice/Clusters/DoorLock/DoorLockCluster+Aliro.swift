import MatterInteraction
import MatterModel
import MatterTLV

// MARK: - Aliro provisioning (Matter Application Clusters, 5.2.10.42 and 5.2.10.43)

extension DoorLockCluster {
    private var hasBluetoothAndUWB: Bool { hasFeature(Spec.Feature.aliroBLEUWB.rawValue) }
    private static let signingKey = "aliro-signing-key"

    /// Nil when the command is none of these.
    func runAliroCommand(_ command: CommandID, _ fields: TLVValue) throws(Status) -> CommandOutcome? {
        switch command {
        case Spec.Commands.setAliroReaderConfig: try setReader(Spec.SetAliroReaderConfig(tlv: fields))
        case Spec.Commands.clearAliroReaderConfig:
            keep(nil, as: Self.signingKey)
            for attribute in [Ids.aliroReaderVerificationKey, Ids.aliroReaderGroupIdentifier, Ids.aliroGroupResolvingKey] {
                setLasting(attribute, .null)
            }
        default: return nil
        }
        return .success
    }

    private func setReader(_ request: Spec.SetAliroReaderConfig) throws(Status) {
        guard request.signingKey.count == 32, request.verificationKey.count == 65, request.groupIdentifier.count == 16,
            request.groupResolvingKey.map({ $0.count == 16 }) ?? true
        else { throw Status(.invalidCommand, "the length of a key") }
        guard !hasBluetoothAndUWB || request.groupResolvingKey != nil else {
            throw Status(.invalidCommand, "GroupResolvingKey is missing")
        }
        // A reader that is set up must be cleared first.
        guard value(Ids.aliroReaderVerificationKey).isNull else { throw Status(.invalidInState) }
        // The private key is never told again.
        keep(request.signingKey, as: Self.signingKey)
        setLasting(Ids.aliroReaderVerificationKey, .octets(request.verificationKey))
        setLasting(Ids.aliroReaderGroupIdentifier, .octets(request.groupIdentifier))
        if let key = request.groupResolvingKey { setLasting(Ids.aliroGroupResolvingKey, .octets(key)) }
    }

    static func isAliro(_ type: CredentialType) -> Bool {
        [.aliroCredentialIssuerKey, .aliroEvictableEndpointKey, .aliroNonEvictableEndpointKey].contains(type)
    }

    /// Somebody holds a phone to the lock whose key it knows. Whether the lock obeyed.
    @discardableResult
    public func present(_ operation: LockOperation, aliroKey key: [UInt8]) -> Bool {
        let types: [CredentialType] = [.aliroNonEvictableEndpointKey, .aliroEvictableEndpointKey, .aliroCredentialIssuerKey]
        let found = types.lazy.compactMap { self.credential($0, key) }.first
        return operateLocally(operation, found, .aliro)
    }
}
