import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

// MARK: - By hand

extension WindowCoveringCluster {
    func setByHand(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        for kind in kinds {
            let ids = Attributes(kind)
            guard [ids.current, ids.currentPercentage, ids.currentValue, ids.target].contains(attribute.id) else { continue }
            guard let number = value.unsigned.map({ UInt16(clamping: $0) }) else {
                throw Status(.constraintError, "a position is wanted")
            }
            let isPercentage = attribute.id == ids.currentPercentage
            let position =
                attribute.id == ids.currentValue ? relative(number, ids) : isPercentage ? min(number, 100) * 100 : number
            guard position <= CoveringAxis.closed else { throw Status(.constraintError, "more than 100 %") }
            if attribute.id == ids.target { return go(kind, to: position) }
            cancel(axis(kind)?.motion?.timer)
            change(kind) { $0.put(at: position) }
            publish(kind)
            return publishStatus()
        }
        switch attribute.id {
        case Spec.Attributes.operationalStatus: throw Status(.constraintError, "it follows the motion")
        case Spec.Attributes.mode:
            set(attribute.id, value)
            modeChanged()
        case Spec.Attributes.safetyStatus:
            let old = safety
            set(attribute.id, value)
            safetyChanged(from: old)
        default: set(attribute.id, value)
        }
    }

    private func safetyChanged(from old: Spec.SafetyStatusBitmap) {
        if safety.contains(.obstacleDetected), !old.contains(.obstacleDetected), let axis = lift {
            let place = axis.position(at: node.environment.now)
            change(.lift) { $0.obstacle = CoveringAxis.Obstacle(position: place, blocksClosing: axis.movement != 1) }
            halt(.lift)
            publishStatus()
        } else if !safety.contains(.obstacleDetected), old.contains(.obstacleDetected) {
            setObstacle(nil)
        }
        if !safety.isDisjoint(with: Self.preventing) { haltAll() }
    }
}

// MARK: - Scenes

extension WindowCoveringCluster: SceneableCluster {
    public func sceneValues() -> [(attribute: AttributeID, value: TLVValue)] {
        kinds.compactMap { kind in
            guard isPositionAware(kind), let axis = axis(kind) else { return nil }
            return (Attributes(kind).target, .unsigned(UInt64(axis.target)))
        }
    }

    /// The motors have one speed; the transition time has no say.
    public func recall(_ values: [(attribute: AttributeID, value: TLVValue)], over transition: Duration) {
        guard (try? checkMayMove()) != nil else { return }
        for kind in kinds where isPositionAware(kind) {
            let ids = Attributes(kind)
            let wanted =
                values.first { $0.attribute == ids.target || $0.attribute == ids.current }?.value.unsigned
                ?? values.first { $0.attribute == ids.currentPercentage }?.value.unsigned.map { min($0, 100) * 100 }
            if let wanted { go(kind, to: UInt16(clamping: min(wanted, UInt64(CoveringAxis.closed)))) }
        }
    }
}
