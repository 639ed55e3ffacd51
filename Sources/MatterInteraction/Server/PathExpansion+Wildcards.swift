import MatterModel

extension WildcardPathFlags {
    /// Whether an attribute that a path with wildcards matches is left out (Matter Core, 8.9.2.3). A flag is about the wildcard that
    /// would bring the attribute in: what the path names stays.
    func leaveOut(_ path: AttributePath, _ attribute: AttributeDefinition, of pattern: AttributePathPattern) -> Bool {
        if isEmpty { return false }
        if pattern.endpoint == nil, contains(.skipRootNode), path.endpoint == 0 { return true }
        if pattern.cluster == nil {
            if contains(.skipDiagnosticsClusters), Self.diagnosticsClusters.contains(path.cluster) { return true }
            if contains(.skipCustomElements), path.cluster.rawValue > 0xFFFF { return true }
        }
        guard pattern.attribute == nil else { return false }
        if contains(.skipCustomElements), path.attribute.rawValue > 0xFFFF { return true }
        if contains(.skipFixedAttributes), attribute.quality.contains(.fixed) { return true }
        if contains(.skipChangesOmittedAttributes), attribute.quality.contains(.changesOmitted) { return true }
        guard 0xF000...0xFFFE ~= path.attribute.rawValue else { return false }
        if contains(.skipGlobalAttributes) { return true }
        return switch path.attribute {
        case 0xFFF8, 0xFFF9: contains(.skipCommandLists)
        case 0xFFFA: contains(.skipEventList)
        case 0xFFFB: contains(.skipAttributeList)
        default: false
        }
    }

    /// General, Software, Thread Network, Wi-Fi Network and Ethernet Network Diagnostics: the clusters of quality K (Matter Core, 7.7).
    private static let diagnosticsClusters: ClosedRange<ClusterID> = 0x33...0x37
}

extension WireAttributePath {
    /// Whether the path, with wildcards or not, includes an attribute that exists.
    func includes(_ path: AttributePath, _ attribute: AttributeDefinition) -> Bool {
        pattern.matches(path) && !wildcardFlags.leaveOut(path, attribute, of: pattern)
    }
}
