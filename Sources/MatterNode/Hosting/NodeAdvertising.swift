import MatterCredentials
import MatterDevice
import MatterDiscovery
import MatterModel

/// What a node says of itself on the network: that it can be paired, and in which fabrics it is (Matter Core, 4.3).
final class NodeAdvertising {
    /// An advertisement could not be made, or was lost.
    var onFailure: (DiscoveryError) -> Void = { _ in }
    /// Everything that is to be advertised is on the network.
    var onEstablished: () -> Void = {}

    private let services: NodeServices
    private let deviceName: String
    private var commissionable: (any Advertisement)?
    private var operational: [FabricIndex: (instance: String, advertisement: any Advertisement)] = [:]
    private var unestablished: Set<String> = []
    /// The instance name of the commissionable service: random, and new at every start (Matter Core, 4.3.1.1).
    private let instance: String

    init(services: NodeServices, deviceName: String, instance: String) {
        (self.services, self.deviceName, self.instance) = (services, deviceName, instance)
    }

    /// Whether all that was advertised has been established.
    var isEstablished: Bool { unestablished.isEmpty }

    /// Brings the advertisements in line with the node.
    func update(_ commissioning: Commissioning, port: UInt16) {
        // Without discovery nothing is to be advertised, and so everything is.
        guard services.discovery.backEnd != .off else { return onEstablished() }
        updateCommissionable(commissioning, port)
        updateOperational(commissioning.fabrics.fabrics, port)
        if unestablished.isEmpty { onEstablished() }
    }

    private func updateCommissionable(_ commissioning: Commissioning, _ port: UInt16) {
        let window = commissioning.window
        guard window.isOpen, let identity = commissioning.identity, let parameters = window.parameters else {
            commissionable?.withdraw()
            commissionable = nil
            unestablished.remove("")
            return
        }
        // A paired device need not tell everybody its name; an unpaired one is found by it.
        let service = CommissionableService(
            discriminator: parameters.discriminator, vendor: identity.vendorID, product: identity.productID,
            mode: window.mode == .enhanced ? .enhanced : .basic, deviceType: identity.primaryDeviceType,
            deviceName: deviceName.clipped(toBytes: 32), pairingHint: 1 << 5)
        do throws(DiscoveryError) {
            let record = try service.record(instance: instance, port: port, host: services.advertisedHost)
            if let commissionable {
                try commissionable.update(record)
                return
            }
            unestablished.insert("")
            commissionable = try services.discovery.advertiser.advertise(
                record, onConflict: .replace { _ in CommissionableService.randomInstance() }
            ) { [weak self] in self?.heard($0, of: "") }
        } catch {
            failed("", error)
        }
    }

    private func updateOperational(_ fabrics: [Fabric], _ port: UInt16) {
        for (index, known) in operational.sorted(by: { $0.key < $1.key })
        where !fabrics.contains(where: { $0.index == index && $0.instanceName == known.instance }) {
            known.advertisement.withdraw()
            operational[index] = nil
            unestablished.remove(known.instance)
        }
        for fabric in fabrics where operational[fabric.index] == nil {
            let service = OperationalService(compressedFabric: fabric.identity.compressedID, node: fabric.nodeID)
            let instance = fabric.instanceName
            do throws(DiscoveryError) {
                unestablished.insert(instance)
                let advertisement = try services.discovery.advertiser.advertise(
                    service.record(port: port, host: services.advertisedHost), onConflict: .fail
                ) { [weak self] in self?.heard($0, of: instance) }
                operational[fabric.index] = (instance, advertisement)
            } catch {
                failed(instance, error)
            }
        }
    }

    private func heard(_ event: AdvertisementEvent, of instance: String) {
        switch event {
        case .established:
            guard unestablished.remove(instance) != nil, unestablished.isEmpty else { return }
            onEstablished()
        case .renamed: break
        case .failed(let error): failed(instance, error)
        }
    }

    private func failed(_ instance: String, _ error: DiscoveryError) {
        unestablished.remove(instance)
        onFailure(error)
        if unestablished.isEmpty { onEstablished() }
    }

    /// Takes everything from the network.
    func withdraw() {
        commissionable?.withdraw()
        commissionable = nil
        // By fabric and not by name: the name is made of random identities.
        for (_, known) in operational.sorted(by: { $0.key < $1.key }) { known.advertisement.withdraw() }
        operational = [:]
        unestablished = []
    }
}
