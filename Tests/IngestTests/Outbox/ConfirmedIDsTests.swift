import SecurePushCore
import Testing

@testable import Ingest

@Suite("ConfirmedIDs")
struct ConfirmedIDsTests {
    private let start = ContinuousClock.now

    private func ids(_ count: Int) -> [NotificationID] { (0..<count).map { _ in NotificationID() } }

    @Test func eachGroupIsTakenOnceWhenItsTimeHasCome() {
        let kept = ConfirmedIDs(limit: 100)
        let (first, second) = (ids(3), ids(2))
        kept.keep(first, until: start + .seconds(2))
        kept.keep(second, until: start + .seconds(3))
        kept.keep([], until: start)
        #expect(kept.take(at: start + .milliseconds(1999)).isEmpty)
        #expect(kept.take(at: start + .seconds(2)) == first)
        #expect(kept.take(at: start + .seconds(9)) == second)
        #expect(kept.take(at: start + .seconds(9)).isEmpty)
    }

    @Test func whatIsTooManyGoesEarlyTheOldestFirst() {
        let kept = ConfirmedIDs(limit: 5)
        let groups = [ids(3), ids(3), ids(2)]
        for group in groups { kept.keep(group, until: start + .seconds(2)) }
        #expect(kept.take(at: start) == groups[0])
        #expect(kept.take(at: start).isEmpty)
        #expect(kept.takeAll() == groups[1] + groups[2])
        #expect(kept.takeAll().isEmpty)
    }
}
