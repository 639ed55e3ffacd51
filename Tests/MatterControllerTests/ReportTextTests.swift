import MatterController
import MatterInteraction
import MatterModel
import Testing

/// What devices answer, as people read it.
@Suite struct ReportTextTests {
    private func report(_ cluster: ClusterID, _ attribute: AttributeID?) -> AttributeReport {
        AttributeReport(WireAttributePath(AttributePathPattern(1, cluster, attribute)), .value(1, .unsigned(0)))
    }

    /// What a lamp says to `read lamp OnOff`.
    private var all: [AttributeReport] {
        [OnOff.Attributes.onOff, OnOff.Attributes.onTime, 0xFFF8, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD].map { report(OnOff.id, $0) }
    }

    private func attributes(asked: [AttributePathPattern]) -> [AttributeID?] {
        ReportText.ofInterest(all, asked: asked).map(\.path.pattern.attribute)
    }

    @Test func theListsThatEveryClusterHasOfItselfAreLeftOut() {
        for asked in [[], [AttributePathPattern()], [AttributePathPattern(1, OnOff.id)]] as [[AttributePathPattern]] {
            #expect(attributes(asked: asked) == [0, 0x4001], "\(asked)")
        }
    }

    @Test func whoAsksForOneByNameGetsIt() {
        #expect(attributes(asked: [AttributePathPattern(nil, nil, 0xFFFC)]) == [0, 0x4001, 0xFFFC])
        #expect(
            attributes(asked: [AttributePathPattern(1, OnOff.id), AttributePathPattern(1, OnOff.id, 0xFFFB)]) == [0, 0x4001, 0xFFFB])
    }

    /// A failure of a wildcard has no attribute: it must not get lost.
    @Test func whatHasNoAttributeIsKept() {
        let failure = AttributeReport(
            WireAttributePath(AttributePathPattern(9, OnOff.id)), .status(Status(.unsupportedEndpoint)))
        #expect(ReportText.ofInterest([failure], asked: [AttributePathPattern(9, OnOff.id)]) == [failure])
    }
}
