import HearthTime
import MatterMessage
import MatterModel
import MatterTLV

extension InteractionServer {
    /// Matter Core, 8.7.
    ///
    /// - Parameter granted: the attribute whose write was granted last, in this or an earlier message of the same interaction: a list
    ///   that is written entry by entry is judged once, or an access control list could not be replaced by its owner.
    func write(
        _ exchange: Exchange, _ request: WriteRequest, _ session: Session, timed deadline: ModelInstant?,
        granted: AttributePath? = nil
    ) {
        guard request.isTimed == (deadline != nil) else { return refuse(exchange, .timedRequestMismatch) }
        // An endpoint may be a wildcard, a cluster or attribute may not (Matter Core, 8.9.2.5); and there would be nothing to ask for
        // more chunks with.
        guard request.writes.allSatisfy({ $0.path.pattern.cluster != nil && $0.path.pattern.attribute != nil }),
            !(request.moreChunks && request.suppressesResponse)
        else { return refuse(exchange, .invalidAction) }
        let context = InteractionContext(peer: session.context, isTimed: deadline != nil, session: session)
        var items: [WriteResponse.Item] = []
        var granted = granted
        for data in request.writes {
            if let path = data.path.pattern.concrete {
                items.append(.init(data.path, write(data, at: path, context, &granted)))
            } else {
                items += writeWildcard(data, context, &granted)
            }
        }
        if request.suppressesResponse { return finishSilently(exchange, context) }
        let payload = WriteResponse(items).payload
        guard payload.count <= Self.payloadLimit(exchange) else { return refuse(exchange, .resourceExhausted) }
        guard request.moreChunks else { return answer(exchange, .writeResponse, payload, context) }
        let turn = awaitNext(exchange) { [weak self, weak session, granted] opcode, payload in
            guard let self, let session else { return exchange.close() }
            guard opcode == InteractionOpcode.writeRequest.rawValue, let next = try? WriteRequest(decoding: payload) else {
                return refuse(exchange, .invalidAction)
            }
            write(exchange, next, session, timed: deadline, granted: granted)
        }
        answer(exchange, .writeResponse, payload, context, closing: false) { turn.begin() }
    }

    /// Ends an exchange whose peer wants no answer; what is to follow the answer waits for the store all the same.
    func finishSilently(_ exchange: Exchange, _ context: InteractionContext) {
        gate(true) {
            context.answered()
            exchange.close()
        }
    }

    /// A wildcard endpoint writes wherever the attribute exists and may be written; nothing is said of the rest.
    private func writeWildcard(
        _ data: AttributeData, _ context: InteractionContext, _ granted: inout AttributePath?
    ) -> [WriteResponse.Item] {
        guard let cluster = data.path.pattern.cluster, let attribute = data.path.pattern.attribute else { return [] }
        var items: [WriteResponse.Item] = []
        for endpoint in node.endpoints where endpoint.cluster(cluster)?.attribute(attribute)?.writePrivilege != nil {
            let path = AttributePath(endpoint.id, cluster, attribute)
            let status = write(data, at: path, context, &granted)
            if status.code != .unsupportedAccess {
                items.append(.init(WireAttributePath(path, listIndex: data.path.listIndex), status))
            }
        }
        return items
    }

    private func write(
        _ data: AttributeData, at path: AttributePath, _ context: InteractionContext, _ granted: inout AttributePath?
    ) -> Status {
        guard let endpoint = node.endpoint(path.endpoint) else { return Status(.unsupportedEndpoint) }
        guard let cluster = endpoint.cluster(path.cluster) else { return Status(.unsupportedCluster) }
        guard let attribute = cluster.attribute(path.attribute) else { return Status(.unsupportedAttribute) }
        guard let privilege = attribute.writePrivilege else { return Status(.unsupportedWrite) }
        guard granted == path || node.allows(privilege, on: path.cluster, at: endpoint, for: context.peer) else {
            return Status(.unsupportedAccess)
        }
        // A fabric-scoped attribute belongs to a fabric, which a pairing session has not got yet.
        if attribute.isFabricScoped, context.peer.fabricIndex == 0 { return Status(.unsupportedAccess) }
        if attribute.isTimed, !context.isTimed { return Status(.needsTimedInteraction) }
        if let version = data.version, version != cluster.dataVersion { return Status(.dataVersionMismatch) }
        let change: AttributeChange
        switch data.path.listIndex {
        case .whole: change = .replace(data.value)
        case .append where attribute.isList: change = .append(data.value)
        default: return Status(.unsupportedWrite, "entries of a list can be appended, not replaced")
        }
        granted = path
        let status = perform(change, attribute, path, cluster, context)
        hooks.afterWrite?(path, change, status, context)
        return status
    }

    private func perform(
        _ change: AttributeChange, _ attribute: AttributeDefinition, _ path: AttributePath, _ cluster: any ClusterServer,
        _ context: InteractionContext
    ) -> Status {
        if case .refuse(let status)? = hooks.beforeWrite?(path, change, context) { return status }
        do throws(Status) {
            try cluster.write(attribute, change, context)
            return .success
        } catch {
            return error
        }
    }
}
