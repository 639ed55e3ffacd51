import MatterModel

extension ClusterFactory {
    static let utilityMakers: [ClusterID: Maker] = [
        AccessControl.id: { AccessControlCluster(endpoint: $0, node: $1, configuration: $2) },
        AdministratorCommissioning.id: { AdministratorCommissioningCluster(endpoint: $0, node: $1, configuration: $2) },
        BasicInformation.id: { BasicInformationCluster(endpoint: $0, node: $1, configuration: $2) },
        Descriptor.id: { DescriptorCluster(endpoint: $0, node: $1, configuration: $2) },
        GeneralCommissioning.id: { GeneralCommissioningCluster(endpoint: $0, node: $1, configuration: $2) },
        GroupKeyManagement.id: { GroupKeyManagementCluster(endpoint: $0, node: $1, configuration: $2) },
        Groups.id: { GroupsCluster(endpoint: $0, node: $1, configuration: $2) },
        Identify.id: { IdentifyCluster(endpoint: $0, node: $1, configuration: $2) },
        OperationalCredentials.id: { OperationalCredentialsCluster(endpoint: $0, node: $1, configuration: $2) },
    ]
}
