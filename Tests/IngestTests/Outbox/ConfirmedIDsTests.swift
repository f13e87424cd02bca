import Domain
import Testing

@testable import Ingest

@Suite("ConfirmedIDs")
struct ConfirmedIDsTests {
    private let start = ContinuousClock.now

    private func ids(_ count: Int) -> [NotificationID] { (0..<count).map { _ in NotificationID() } }

    @Test func `Each group is taken once when its time has come`() {
        let kept = ConfirmedIDs(limit: 100)
        let (first, second) = (ids(3), ids(2))
        kept.insert(first, until: start + .seconds(2))
        kept.insert(second, until: start + .seconds(3))
        kept.insert([], until: start)
        #expect(kept.removeDue(at: start + .milliseconds(1999)).isEmpty)
        #expect(kept.removeDue(at: start + .seconds(2)) == first)
        #expect(kept.removeDue(at: start + .seconds(9)) == second)
        #expect(kept.removeDue(at: start + .seconds(9)).isEmpty)
    }

    @Test func `What is too many goes early the oldest first`() {
        let kept = ConfirmedIDs(limit: 5)
        let groups = [ids(3), ids(3), ids(2)]
        for group in groups { kept.insert(group, until: start + .seconds(2)) }
        #expect(kept.removeDue(at: start) == groups[0])
        #expect(kept.removeDue(at: start).isEmpty)
        #expect(kept.removeAll() == groups[1] + groups[2])
        #expect(kept.removeAll().isEmpty)
    }
}
