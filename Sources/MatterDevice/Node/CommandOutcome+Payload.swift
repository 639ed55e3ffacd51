import MatterInteraction
import MatterModel

extension CommandOutcome {
    /// A response command with typed fields.
    static func reply(_ payload: some CommandPayload) -> CommandOutcome { .response(type(of: payload).id, payload.tlv) }
}
