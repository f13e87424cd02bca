import DequeModule
import Synchronization

/// The newest requests that crossed the hub, bounded in number and in memory: the oldest make room.
final class RecordLog: Sendable {
    private struct State {
        /// Without gaps: the sequence of the first and the index give all others.
        var records: Deque<RecordedRequest> = []
        var lastSequence = 0
        var byteCount = 0
        /// Of the message IDs, which need to be different and no secret: seeded once, without a system call each time.
        var generator = SeededGenerator(seed: .random(in: .min ... .max))

        mutating func removeOldest() {
            byteCount -= records.removeFirst().byteCount
        }

        func index(of sequence: Int) -> Int? {
            let index = records.count - 1 - (lastSequence - sequence)
            return records.indices.contains(index) ? index : nil
        }

        /// Where the records begin that came after a sequence, whatever number a client names.
        func index(after sequence: Int) -> Int {
            if sequence >= lastSequence { return records.count }
            return sequence < 0 ? 0 : max(0, records.count - (lastSequence - sequence))
        }
    }

    static let defaultMaximumBytes = 64 * 1024 * 1024

    private let capacity: Int
    private let maximumBytes: Int
    private let feed: EventFeed
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: how many records are kept.
    ///   - maximumBytes: and how much memory they may hold, about.
    init(capacity: Int, maximumBytes: Int = defaultMaximumBytes, feed: EventFeed) {
        self.capacity = capacity
        self.maximumBytes = maximumBytes
        self.feed = feed
    }

    /// Keeps a record, and names it when it has no ID yet: the ID holds the place in the log, which finds it again.
    ///
    /// - Returns: the record as kept.
    @discardableResult
    func append(_ record: consuming RecordedRequest) -> RecordedRequest {
        var record = record
        state.withLock { state in
            state.lastSequence += 1
            record.sequence = state.lastSequence
            if record.id.isEmpty {
                record.id = HubMessageID.make(
                    at: record.receivedAt, random: (state.generator.next(), state.generator.next()),
                    sequence: record.sequence, isSchedule: record.kind == .scheduled)
            }
            state.byteCount += record.byteCount
            state.records.append(record)
            while state.records.count > capacity || (state.byteCount > maximumBytes && state.records.count > 1) {
                state.removeOldest()
            }
        }
        feed.publish(.record, record)
        return record
    }

    /// Changes a record that is still kept.
    ///
    /// - Returns: whether it was.
    @discardableResult
    func update(_ sequence: Int, _ change: (inout RecordedRequest) -> Void) -> Bool {
        let changed: RecordedRequest? = state.withLock { state in
            guard let index = state.index(of: sequence) else { return nil }
            state.byteCount -= state.records[index].byteCount
            change(&state.records[index])
            state.byteCount += state.records[index].byteCount
            return state.records[index]
        }
        guard let changed else { return false }
        feed.publish(.record, changed)
        return true
    }

    /// The send of a hub's message ID, if it is still kept.
    func record(id: String) -> RecordedRequest? {
        guard let sequence = HubMessageID.sequence(of: id) else { return nil }
        return state.withLock { state in
            guard let index = state.index(of: sequence), state.records[index].id == id else { return nil }
            return state.records[index]
        }
    }

    /// The records in order of arrival.
    ///
    /// - Parameters:
    ///   - after: a record's `Sequence` or `Id`; only what came later is given.
    ///   - limit: at most so many: the first ones after `after`, or the newest without it.
    func records(after: String?, limit: Int?) -> [RecordedRequest] {
        state.withLock { state in
            let all = state.records
            guard let after else { return Array(all.suffix(limit ?? all.count)) }
            let start =
                Int(after).map { state.index(after: $0) }
                ?? all.lastIndex { $0.id == after }.map { $0 + 1 } ?? all.startIndex
            return Array(all[start...].prefix(limit ?? all.count))
        }
    }

    func removeAll() {
        state.withLock { state in
            state.records.removeAll()
            state.byteCount = 0
        }
        feed.publish(.cleared, [String: String]())
    }
}
