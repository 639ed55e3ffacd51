import MatterCredentials
import MatterDevice
import MatterModel
import MatterTLV

/// What a virtual device is: device types, features, first values. Read from a file in `device-profiles/`, or made in code.
public struct DeviceProfile: Sendable {
    /// One endpoint beside the root.
    public struct Endpoint: Sendable {
        public var id: EndpointID
        public var deviceTypes: [DeviceTypeID]
        /// What is said of clusters; those that the device types demand need not stand here.
        public var clusters: [ClusterID: ClusterConfiguration]
        /// The endpoint that this one belongs to: of an aggregator's bridged nodes, and of parts; nil for the root.
        public var parent: EndpointID?

        public init(
            _ id: EndpointID, deviceTypes: [DeviceTypeID], clusters: [ClusterID: ClusterConfiguration] = [:], parent: EndpointID? = nil
        ) {
            (self.id, self.deviceTypes, self.clusters, self.parent) = (id, deviceTypes, clusters, parent)
        }
    }

    /// What the device is called when nobody gives it another name; at most 32 bytes are advertised.
    public var name: String
    public var vendorID: VendorID
    public var vendorName: String
    public var productID: UInt16
    public var productName: String
    public var serialNumber: String?
    /// Nil draws one at the first start, which is kept.
    public var passcode: Passcode?
    /// 0 to 4095. Nil gives the devices of a fleet different ones.
    public var discriminator: UInt16?
    /// What is said of the root endpoint's clusters.
    public var root: [ClusterID: ClusterConfiguration]
    public var endpoints: [Endpoint]
    /// Commands in one invoke request, at most.
    public var maximumPathsPerInvoke: UInt16
    /// Where it was read from; nil when it was made in code.
    public var source: String?

    public init(
        name: String, vendorID: VendorID = 0xFFF1, vendorName: String = "Hearth", productID: UInt16 = 0x8000,
        productName: String = "Virtual Device", serialNumber: String? = nil, passcode: Passcode? = nil, discriminator: UInt16? = nil,
        root: [ClusterID: ClusterConfiguration] = [:], endpoints: [Endpoint], maximumPathsPerInvoke: UInt16 = 1, source: String? = nil
    ) {
        (self.name, self.vendorID, self.vendorName) = (name, vendorID, vendorName)
        (self.productID, self.productName, self.serialNumber) = (productID, productName, serialNumber)
        (self.passcode, self.discriminator, self.root, self.endpoints) = (passcode, discriminator, root, endpoints)
        (self.maximumPathsPerInvoke, self.source) = (maximumPathsPerInvoke, source)
    }
}
