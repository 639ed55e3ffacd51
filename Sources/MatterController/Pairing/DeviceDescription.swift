import MatterInteraction
import MatterModel
import MatterTLV

/// Reads which endpoints a device has and what is on them (Matter Core, 9.5).
enum DeviceDescription {
    /// Reads it into `device` and the home. A connection that is lost in between is made again, once.
    static func fill(_ device: PairedDevice, _ peer: Peer, _ home: ControllerHome) async throws -> PairedDevice {
        let endpoints: [PairedDevice.Endpoint]
        do {
            endpoints = try await read(peer.connected())
        } catch  where !peer.isConnected {
            endpoints = try await read(peer.connected())
        }
        guard let described = try home.update(device.nodeID, { $0.endpoints = endpoints }) else {
            throw ControllerError(.unknownDevice, "\(device.name) has left the home")
        }
        return described
    }

    static func read(_ client: InteractionClient) async throws -> [PairedDevice.Endpoint] {
        let report = try await client.read(
            ReadSelection(attributes: [
                AttributePathPattern(nil, Descriptor.id, Descriptor.Attributes.deviceTypeList),
                AttributePathPattern(nil, Descriptor.id, Descriptor.Attributes.serverList),
            ]))
        var endpoints: [EndpointID: PairedDevice.Endpoint] = [:]
        for item in report.attributes {
            guard let path = item.path.pattern.concrete, case .value(_, let value) = item.outcome else { continue }
            var endpoint = endpoints[path.endpoint] ?? PairedDevice.Endpoint(path.endpoint, deviceTypes: [], clusters: [])
            if path.attribute == Descriptor.Attributes.deviceTypeList {
                endpoint.deviceTypes = (value.array ?? []).compactMap { $0[0]?.unsigned.flatMap { DeviceTypeID(exactly: $0) } }
            } else {
                endpoint.clusters = (value.array ?? []).compactMap { $0.unsigned.flatMap { ClusterID(exactly: $0) } }.sorted()
            }
            endpoints[path.endpoint] = endpoint
        }
        return endpoints.values.sorted { $0.id < $1.id }
    }
}
