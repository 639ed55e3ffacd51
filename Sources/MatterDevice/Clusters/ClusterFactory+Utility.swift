import MatterModel

extension ClusterFactory {
    static let utilityMakers: [ClusterID: Maker] = [
        AccessControl.id: { AccessControlCluster(endpoint: $0, node: $1, configuration: $2) },
        AdministratorCommissioning.id: { AdministratorCommissioningCluster(endpoint: $0, node: $1, configuration: $2) },
        BasicInformation.id: { BasicInformationCluster(endpoint: $0, node: $1, configuration: $2) },
        Binding.id: { BindingCluster(endpoint: $0, node: $1, configuration: $2) },
        BridgedDeviceBasicInformation.id: { BridgedDeviceBasicInformationCluster(endpoint: $0, node: $1, configuration: $2) },
        Descriptor.id: { DescriptorCluster(endpoint: $0, node: $1, configuration: $2) },
        EthernetNetworkDiagnostics.id: { EthernetNetworkDiagnosticsCluster(endpoint: $0, node: $1, configuration: $2) },
        GeneralCommissioning.id: { GeneralCommissioningCluster(endpoint: $0, node: $1, configuration: $2) },
        GeneralDiagnostics.id: { GeneralDiagnosticsCluster(endpoint: $0, node: $1, configuration: $2) },
        GroupKeyManagement.id: { GroupKeyManagementCluster(endpoint: $0, node: $1, configuration: $2) },
        Groups.id: { GroupsCluster(endpoint: $0, node: $1, configuration: $2) },
        Identify.id: { IdentifyCluster(endpoint: $0, node: $1, configuration: $2) },
        LocalizationConfiguration.id: { LocalizationConfigurationCluster(endpoint: $0, node: $1, configuration: $2) },
        NetworkCommissioning.id: { NetworkCommissioningCluster(endpoint: $0, node: $1, configuration: $2) },
        OperationalCredentials.id: { OperationalCredentialsCluster(endpoint: $0, node: $1, configuration: $2) },
        PowerSource.id: { PowerSourceCluster(endpoint: $0, node: $1, configuration: $2) },
        SoftwareDiagnostics.id: { SoftwareDiagnosticsCluster(endpoint: $0, node: $1, configuration: $2) },
        TimeFormatLocalization.id: { TimeFormatLocalizationCluster(endpoint: $0, node: $1, configuration: $2) },
        UnitLocalization.id: { UnitLocalizationCluster(endpoint: $0, node: $1, configuration: $2) },
        UserLabel.id: { UserLabelCluster(endpoint: $0, node: $1, configuration: $2) },
    ]

    static let utilityParameters: [ClusterID: [ClusterParameter]] = [:]
}
