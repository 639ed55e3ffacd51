import MatterModel
import MatterTLV

/// A cluster with attributes that scenes keep (quality S; Matter Application Clusters, Scenes Management).
public protocol SceneableCluster: Cluster {
    /// The values to store, of attributes that exist.
    func sceneValues() -> [(attribute: AttributeID, value: TLVValue)]
    /// Goes to stored values over a time.
    func recall(_ values: [(attribute: AttributeID, value: TLVValue)], over transition: Duration)
}
