import MatterModel
import MatterTLV

/// A cluster with attributes that scenes keep (quality S; Matter Application Clusters, Scenes Management).
public protocol SceneableCluster: Cluster {
    /// The values to store, of attributes that exist.
    func sceneValues() -> [(attribute: AttributeID, value: TLVValue)]
    /// Goes to stored values over a time.
    func recall(_ values: [(attribute: AttributeID, value: TLVValue)], over transition: Duration)
}

/// What On/Off asks of the scenes on its endpoint: the global scene (Matter Application Clusters, 1.5.6.2).
protocol GlobalScenes: AnyObject {
    func storeGlobalScene(of fabric: FabricIndex)
    /// False when none is kept.
    func recallGlobalScene(of fabric: FabricIndex) -> Bool
    /// An attribute that scenes keep has changed: the present state is no scene any more.
    func sceneableChanged()
}

extension DeviceNode {
    func globalScenes(at endpoint: EndpointID) -> (any GlobalScenes)? {
        self.endpoint(endpoint)?.cluster(ScenesManagement.id) as? any GlobalScenes
    }

    /// Clusters call it when a command, a hand or a sensor changes what scenes keep; not for the steps of a transition, nor while a
    /// scene is recalled.
    func sceneableChanged(at endpoint: EndpointID) { globalScenes(at: endpoint)?.sceneableChanged() }
}
