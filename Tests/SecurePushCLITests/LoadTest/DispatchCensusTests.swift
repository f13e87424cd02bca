import Domain
import Testing

@testable import SecurePushCLI

@Suite struct DispatchCensusTests {
    private func id(_ number: Int) -> NotificationID { NotificationID(high: 1, low: UInt64(number)) }

    private func page(_ items: [(Int, NotificationStatus)]) -> [(id: NotificationID, status: NotificationStatus)] {
        items.map { (id: id($0.0), status: $0.1) }
    }

    @Test func `Each of ours is counted once, and others' not at all`() {
        var census = DispatchCensus([4, 2, 6].map(id))
        census.take(page([(7, .dispatched), (6, .dispatched), (5, .failed), (4, .failed)]))
        census.take(page([(4, .failed), (2, .queued)]))
        #expect(census.pending == 1)
        #expect(census.statuses == [.dispatched: 1, .failed: 1])
        census.take(page([(2, .read)]))
        #expect(census.pending == 0)
        #expect(census.statuses == [.dispatched: 1, .failed: 1, .read: 1])
    }

    @Test func `A pass begins at the newest that is pending and ends at the oldest`() {
        var census = DispatchCensus((1...9).map(id))
        #expect(census.start == nil)
        #expect(census.goesOn(before: id(2)))
        #expect(!census.goesOn(before: id(1)))
        census.take(page([(9, .dispatched), (8, .dispatched), (1, .dispatched), (2, .partial)]))
        #expect(census.start == id(8))
        #expect(census.goesOn(before: id(4)))
        #expect(!census.goesOn(before: id(3)))
        #expect(!census.goesOn(before: nil))
        census.take(page((3...7).map { ($0, .dispatched) }))
        #expect(census.pending == 0)
        #expect(!census.goesOn(before: id(9)))
    }

    @Test func `Nothing to count`() {
        var census = DispatchCensus([])
        census.take(page([(1, .dispatched)]))
        #expect(census.pending == 0)
        #expect(census.statuses.isEmpty)
        #expect(census.start == nil)
    }
}
