import HearthIO
import MatterModel
import MatterTLV

/// A device that belongs to the home, as the controller keeps it.
public struct PairedDevice: Sendable, Hashable {
    /// An endpoint and what it is.
    public struct Endpoint: Sendable, Hashable {
        public var id: EndpointID
        public var deviceTypes: [DeviceTypeID]
        /// Server clusters, sorted.
        public var clusters: [ClusterID]

        public init(_ id: EndpointID, deviceTypes: [DeviceTypeID], clusters: [ClusterID]) {
            (self.id, self.deviceTypes, self.clusters) = (id, deviceTypes, clusters)
        }
    }

    /// Bytes in a name, at most.
    public static let nameLimit = 64

    public var nodeID: NodeID
    /// Unique in the home.
    public var name: String
    public var vendorID: VendorID
    public var productID: UInt16
    /// Where it answered last, in `host:port` notation; tried first, and while discovery is off the only way.
    public var addresses: [String]
    public var endpoints: [Endpoint]
    /// Its pairing had come to CommissioningComplete when it was cut short: the device may belong to the home, or have forgotten it. The
    /// next connection shows which.
    public var isIncomplete = false

    public init(
        nodeID: NodeID, name: String, vendorID: VendorID = 0, productID: UInt16 = 0, addresses: [String] = [],
        endpoints: [Endpoint] = []
    ) {
        (self.nodeID, self.name, self.vendorID, self.productID) = (nodeID, name, vendorID, productID)
        (self.addresses, self.endpoints) = (addresses, endpoints)
    }

    /// Nil when the device had no such endpoint when it was last described.
    public func endpoint(_ id: EndpointID) -> Endpoint? { endpoints.first { $0.id == id } }
    /// Endpoints that have a server of the cluster.
    public func endpoints(with cluster: ClusterID) -> [EndpointID] { endpoints.filter { $0.clusters.contains(cluster) }.map(\.id) }
}

extension PairedDevice {
    /// As it lies in the store.
    var tlv: TLVValue {
        .structure([
            TLVElement(0, .utf8(name)), TLVElement(1, .unsigned(UInt64(vendorID.rawValue))), TLVElement(2, .unsigned(UInt64(productID))),
            TLVElement(3, .array(addresses.map { .utf8($0) })),
            TLVElement(
                4,
                .array(
                    endpoints.map { endpoint in
                        .structure([
                            TLVElement(0, .unsigned(endpoint.id.unsigned)),
                            TLVElement(1, .array(endpoint.deviceTypes.map { .unsigned($0.unsigned) })),
                            TLVElement(2, .array(endpoint.clusters.map { .unsigned($0.unsigned) })),
                        ])
                    })),
            TLVElement(5, .boolean(isIncomplete)),
        ])
    }

    init?(nodeID: NodeID, tlv: TLVValue) {
        guard let name = tlv[0]?.text else { return nil }
        self.init(
            nodeID: nodeID, name: name, vendorID: tlv[1]?.unsigned.flatMap { VendorID(exactly: $0) } ?? 0,
            productID: tlv[2]?.unsigned.flatMap { UInt16(exactly: $0) } ?? 0, addresses: tlv[3]?.array?.compactMap(\.text) ?? [])
        isIncomplete = tlv[5]?.boolean ?? false
        endpoints = (tlv[4]?.array ?? []).compactMap { value in
            guard let id = value[0]?.unsigned.flatMap({ EndpointID(exactly: $0) }) else { return nil }
            return Endpoint(
                id, deviceTypes: value[1]?.array?.compactMap { $0.unsigned.flatMap { DeviceTypeID(exactly: $0) } } ?? [],
                clusters: value[2]?.array?.compactMap { $0.unsigned.flatMap { ClusterID(exactly: $0) } } ?? [])
        }
    }
}
