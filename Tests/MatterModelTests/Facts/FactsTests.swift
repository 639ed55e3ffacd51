import MatterModel
import Testing

/// Compares all of the data model with facts that others hold of it, where somebody has laid them beside the package, in
/// `../shared/matter-model`, or named the folder that has them by the variable HEARTH_SHARED.
@Suite(.enabled(if: Facts.folder != nil, Facts.nothing))
struct FactsTests {
    @Test func theModelIsWhatTheFactsSay() throws {
        let (model, facts) = (try OwnModel.current.get(), try Facts.read.get())
        let differences = FactsComparison.differences(of: model, from: facts)
        for difference in differences where KnownDifferences.reasons[difference] == nil { Issue.record("\(difference)") }
        for known in Set(KnownDifferences.reasons.keys).subtracting(differences).sorted() {
            Issue.record("no difference any more, so it should leave the list of known ones: \(known)")
        }
        print(
            "facts: \(model.clusters.count) clusters, \(model.deviceTypes.count) device types and \(model.globalTypes.count) global types",
            "compared with \(Facts.folder?.path ?? ""), \(Set(differences).intersection(KnownDifferences.reasons.keys).count)",
            "differences meant")
    }

    /// Nothing was compared that was not there.
    @Test func theFactsAreComplete() throws {
        let facts = try Facts.read.get()
        #expect(facts.clusters.count == DataModel.index.count)
        #expect(facts.deviceTypes.count >= DataModel.deviceTypes.count)
        #expect(facts.spelling.list("clusters").count >= DataModel.index.count)
        #expect(facts.spelling.list("globalAttributes").count == DataModel.globalAttributes.count)
        #expect(!facts.globalTypes.isEmpty)
    }
}

/// Says in the tests' output when there is nothing to compare, beside the suite that is left out.
@Test(.enabled(if: Facts.folder == nil, "there are facts")) func thereIsNothingToCompareTheModelWith() { print("facts:", Facts.nothing) }
