import DequeModule
import Synchronization

/// The newest requests that crossed the hub, bounded: the oldest makes room.
final class RecordLog: Sendable {
    private struct State {
        var records: Deque<CrossingRecord> = []
        var lastSequence = 0
    }

    private let capacity: Int
    private let feed: EventFeed
    private let state = Mutex(State())

    init(capacity: Int, feed: EventFeed) {
        self.capacity = capacity
        self.feed = feed
    }

    func append(_ record: CrossingRecord) {
        let numbered = state.withLock { state in
            state.lastSequence += 1
            var record = record
            record.sequence = state.lastSequence
            if state.records.count >= capacity { state.records.removeFirst() }
            state.records.append(record)
            return record
        }
        feed.publish(.record, numbered)
    }

    /// The records in order of arrival.
    ///
    /// - Parameters:
    ///   - after: a record's `Sequence` or `Id`; only what came later is given.
    ///   - limit: at most so many: the first ones after `after`, or the newest without it.
    func records(after: String?, limit: Int?) -> [CrossingRecord] {
        let all = state.withLock { Array($0.records) }
        guard let after else { return Array(all.suffix(limit ?? all.count)) }
        let start =
            Int(after).map { sequence in all.firstIndex { $0.sequence > sequence } ?? all.endIndex }
            ?? all.lastIndex { $0.id == after }.map { $0 + 1 } ?? all.startIndex
        return Array(all[start...].prefix(limit ?? all.count))
    }

    func removeAll() {
        state.withLock { $0.records.removeAll() }
        feed.publish(.cleared, [String: String]())
    }
}
