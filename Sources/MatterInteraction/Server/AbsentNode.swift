import MatterMessage
import MatterModel

/// What an interaction server serves when its node has gone: nothing. A message or timer that outlives the node meets it instead of a
/// dangling reference.
final class AbsentNode: NodeServer {
    let endpoints: [EndpointServer] = []
    let events = EventLog(boundary: 0)
    let maximumPathsPerInvoke = 1
    func endpoint(_ id: EndpointID) -> EndpointServer? { nil }
    func allows(_ privilege: Privilege, on cluster: ClusterID, at endpoint: EndpointServer, for peer: SessionContext) -> Bool {
        false
    }
}
