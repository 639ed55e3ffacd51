import HearthTime
import MatterMessage
import MatterModel
import MatterTLV

extension InteractionServer {
    /// Matter Core, 8.8.
    func invoke(_ exchange: Exchange, _ request: InvokeRequest, _ session: Session, timed deadline: ModelInstant?) {
        guard request.isTimed == (deadline != nil) else { return refuse(exchange, .timedRequestMismatch) }
        // Once: it is a weak reference.
        let node = node
        guard isWellFormed(request, node) else { return refuse(exchange, .invalidAction) }
        let context = InteractionContext(peer: session.context, isTimed: deadline != nil, session: session)
        var answers: [CommandAnswer] = []
        answers.reserveCapacity(request.commands.count)
        for command in request.commands { invoke(command, node, context, &answers) }
        // Only a request for a status may go without an answer; a response command is always sent (Matter Core, 8.8.3.2).
        if request.suppressesResponse, answers.allSatisfy({ if case .status = $0.outcome { true } else { false } }) {
            return finishSilently(exchange, context)
        }
        sendAnswers(answers[...], on: exchange, context)
    }

    /// Several commands need references that differ, and paths that differ (Matter Core, 8.8.2.2).
    private func isWellFormed(_ request: InvokeRequest, _ node: any NodeServer) -> Bool {
        let commands = request.commands
        guard !commands.isEmpty, commands.count <= node.maximumPathsPerInvoke else { return false }
        // An endpoint may be a wildcard, nothing else may.
        guard commands.allSatisfy({ $0.path.cluster != nil && $0.path.command != nil }) else { return false }
        if commands.count == 1 { return true }
        let references = commands.compactMap(\.reference)
        return Set(references).count == commands.count && Set(commands.map(\.path)).count == commands.count
            && commands.allSatisfy { $0.path.concrete != nil }
    }

    private func sendAnswers(_ answers: ArraySlice<CommandAnswer>, on exchange: Exchange, _ context: InteractionContext) {
        let maximum = Self.payloadLimit(exchange)
        var count = answers.count
        var payload = InvokeResponse(Array(answers)).payload
        while payload.count > maximum, count > 1 {
            count = (count + 1) / 2
            payload = InvokeResponse(Array(answers.prefix(count)), moreChunks: true).payload
        }
        if payload.count > maximum, let answer = answers.first {
            // One response that no message can hold.
            payload =
                InvokeResponse(
                    [CommandAnswer(answer.path, .status(Status(.resourceExhausted)), reference: answer.reference)],
                    moreChunks: count < answers.count
                ).payload
        }
        let rest = answers.dropFirst(count)
        guard !rest.isEmpty else { return answer(exchange, .invokeResponse, payload, context) }
        let turn = awaitNext(exchange) { [weak self] opcode, payload in
            guard let self, opcode == InteractionOpcode.statusResponse.rawValue,
                (try? StatusResponse(decoding: payload))?.status == .success
            else { return exchange.close() }
            sendAnswers(rest, on: exchange, context)
        }
        answer(exchange, .invokeResponse, payload, context, closing: false) { turn.begin() }
    }

    private func invoke(
        _ command: CommandData, _ node: any NodeServer, _ context: InteractionContext, _ answers: inout [CommandAnswer]
    ) {
        guard let clusterID = command.path.cluster, let commandID = command.path.command else { return }
        if let path = command.path.concrete { return answers.append(invoke(command, at: path, node, context)) }
        // A wildcard endpoint: wherever the command exists and may be invoked; nothing is said of the rest.
        for endpoint in node.endpoints {
            guard let cluster = endpoint.cluster(clusterID), let definition = cluster.command(commandID),
                node.allows(definition.invokePrivilege, on: clusterID, at: endpoint, for: context.peer)
            else { continue }
            answers.append(invoke(command, at: CommandPath(endpoint.id, clusterID, commandID), node, context))
        }
    }

    private func invoke(
        _ command: CommandData, at path: CommandPath, _ node: any NodeServer, _ context: InteractionContext
    ) -> CommandAnswer {
        let outcome = perform(command, path, node, context)
        switch outcome {
        case .status(let status): return CommandAnswer(WireCommandPath(path), .status(status), reference: command.reference)
        case .response(let id, let fields):
            let responsePath = WireCommandPath(CommandPath(path.endpoint, path.cluster, id))
            return CommandAnswer(responsePath, .response(fields), reference: command.reference)
        }
    }

    private func perform(
        _ command: CommandData, _ path: CommandPath, _ node: any NodeServer, _ context: InteractionContext
    ) -> CommandOutcome {
        guard let endpoint = node.endpoint(path.endpoint) else { return .status(Status(.unsupportedEndpoint)) }
        guard let cluster = endpoint.cluster(path.cluster) else { return .status(Status(.unsupportedCluster)) }
        guard let definition = cluster.command(path.command) else { return .status(Status(.unsupportedCommand)) }
        guard node.allows(definition.invokePrivilege, on: path.cluster, at: endpoint, for: context.peer) else {
            return .status(Status(.unsupportedAccess))
        }
        if definition.isFabricScoped, context.peer.fabricIndex == 0 { return .status(Status(.unsupportedAccess)) }
        if definition.isTimed, !context.isTimed { return .status(Status(.needsTimedInteraction)) }
        let fields = command.fields ?? .structure([])
        let outcome: CommandOutcome
        if case .refuse(let status)? = hooks.beforeCommand?(path, fields, context) {
            outcome = .status(status)
        } else if case .structure = fields {
            do throws(Status) { outcome = try cluster.invoke(definition, fields, context) } catch { outcome = .status(error) }
        } else {
            outcome = .status(Status(.invalidCommand, "the fields are not a structure"))
        }
        hooks.afterCommand?(path, fields, outcome, context)
        return outcome
    }
}
