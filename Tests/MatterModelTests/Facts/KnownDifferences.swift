/// Where the model differs from the facts on purpose, each with the reason. The test also fails when one of these is no difference
/// any more, so that the list stays true.
enum KnownDifferences {
    static let reasons: [String: String] = groups.reduce(into: [:]) { all, group in
        for difference in group.differences { all[difference] = group.reason }
    }

    private static let groups: [(reason: String, differences: [String])] = [
        (
            "disallowed in this revision (conformance X): never sent, and often without a type",
            [
                "GeneralDiagnostics: attribute DoNotUse is missing",
                "BridgedDeviceBasicInformation: attribute DataModelRevision is missing",
                "BridgedDeviceBasicInformation: attribute Location is missing",
                "BridgedDeviceBasicInformation: attribute LocalConfigDisabled is missing",
                "BridgedDeviceBasicInformation: attribute CapabilityMinima is missing",
                "BridgedDeviceBasicInformation: attribute SpecificationVersion is missing",
                "BridgedDeviceBasicInformation: attribute MaxPathsPerInvoke is missing",
                "BridgedDeviceBasicInformation.Leave: field FabricIndex is missing",
                "GroupKeyManagement.KeySetReadAllIndices: field DoNotUse is missing",
                "DoorLock: command Toggle is missing",
                "WindowCovering.GoToLiftPercentage: field Ignored is missing",
                "WindowCovering.GoToTiltPercentage: field Ignored is missing",
            ]
        ),
        (
            "deprecated, and without a type that a value could have",
            [
                "DoorLock: attribute SecurityLevel is missing",
                "WindowCovering: attribute VelocityLift is missing",
                "WindowCovering: attribute AccelerationTimeLift is missing",
                "WindowCovering: attribute DecelerationTimeLift is missing",
                "WindowCovering: attribute IntermediateSetpointsLift is missing",
                "WindowCovering: attribute IntermediateSetpointsTilt is missing",
            ]
        ),
        (
            "answers a command that this revision has no longer",
            ["Thermostat: command GetRelayStatusLogResponse is missing"]
        ),
        (
            "a table that a server keeps; no element has this type",
            ["ScenesManagement: struct LogicalSceneTable is missing"]
        ),
        (
            "commands that belong to no cluster, and that Thermostat takes part in; the facts do not list them there",
            [
                "Thermostat: command AtomicRequest is not in the facts",
                "Thermostat: command AtomicResponse is not in the facts",
            ]
        ),
        (
            "a type that no element has",
            ["every cluster: type date is missing", "every cluster: type tod is missing"]
        ),
        (
            "a reserved bit",
            ["WildcardPathFlagsBitmap: bit Reserved is missing"]
        ),
        (
            "belongs to the cluster Label, from which Fixed Label and User Label are derived and which has no facts of its own",
            ["every cluster: type LabelStruct is not in the facts"]
        ),
        (
            "the second source lower-cases a letter that the specification does not",
            ["Thermostat.ACCapacityFormat: the spelling ACCapacityFormat, in the facts ACCapacityformat"]
        ),
        (
            "both must hold, for which the facts' notation has no word",
            [
                "OccupancySensing.HoldTimeLimitsStruct.HoldTimeMax: constraint min HoldTimeMin & min 10, in the facts min holdTimeMin, min 10"
            ]
        ),
        (
            "the facts misspell the name of a feature or condition: Door Lock has FGP, and Wi-Fi is one word",
            [
                "DoorLock.DoorLock (server).USR: conformance Matter & (PIN | RID | FGP | FACE | ALIRO), "
                    + "in the facts Matter & (PIN | RID | FPG | FACE | ALIRO)",
                "RootNode.WiFiNetworkDiagnostics (server): conformance [WiFi], in the facts [Wi, Fi]",
            ]
        ),
    ]
}
