// A release build compiles this target too, without the testing library.
#if canImport(Testing)
package import TestSupport
package import Testing

extension APIDescription {
    /// Expects that the description is true to the exchanges, and they to it: everything that was answered is
    /// described, every outcome that is described was had, and nothing stands in it that the answers would not miss.
    ///
    /// - Parameters:
    ///   - excused: outcomes that no exchange has, each with its reason.
    ///   - unneeded: parts of the document that say more than they have to.
    package func expectTruth(
        of ledger: APILedger, excused: [String: String], unneeded: Set<String>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for exchange in ledger.exchanges {
            let issues = issues(of: exchange)
            #expect(issues.isEmpty, "\(issues)", sourceLocation: sourceLocation)
        }
        #expect(ledger.uncovered(self) == Set(excused.keys), sourceLocation: sourceLocation)
        #expect(exampleIssues == [], sourceLocation: sourceLocation)
        #expect(brokenLinks == [], sourceLocation: sourceLocation)
        let parts = Set(excused.keys.map(\.partOfDocument))
        let unnoticed = Set(unnoticedRemovals(ledger.exchanges)).subtracting(parts)
        #expect(unnoticed == unneeded, sourceLocation: sourceLocation)
    }
}
#endif
