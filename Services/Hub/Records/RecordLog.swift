import DequeModule
import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime
import Synchronization

/// The newest requests to the hubs, bounded in number and in memory: the oldest are dropped first.
final class RecordLog: Sendable {
    private struct State {
        /// In order of their sequences, without gaps.
        var records: Deque<RecordedRequest> = []
        var lastSequence = 0
        var byteCount = 0

        mutating func removeOldest() {
            byteCount -= records.removeFirst().byteCount
        }

        func index(of sequence: Int) -> Int? {
            let index = records.count - 1 - (lastSequence - sequence)
            return records.indices.contains(index) ? index : nil
        }

        /// The index of the first record after a sequence, which may be any number of a client.
        func index(after sequence: Int) -> Int {
            if sequence >= lastSequence { return records.count }
            return sequence < 0 ? 0 : max(0, records.count - (lastSequence - sequence))
        }
    }

    static let defaultMaxBytes = 64 * 1024 * 1024

    private let capacity: Int
    private let maxBytes: Int
    private let feed: EventFeed
    private let keeps: @Sendable (RecordedRequest) -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: the maximum number of records.
    ///   - maxBytes: the approximate maximum of their memory, in bytes.
    ///   - keeps: whether a record is kept.
    init(
        capacity: Int, maxBytes: Int = defaultMaxBytes, feed: EventFeed,
        keeps: @escaping @Sendable (RecordedRequest) -> Bool = { _ in true }
    ) {
        self.capacity = capacity
        self.maxBytes = maxBytes
        self.feed = feed
        self.keeps = keeps
    }

    /// Keeps a record.
    ///
    /// - Returns: the record as kept; as given if it is not.
    @discardableResult
    func append(_ record: consuming RecordedRequest) -> RecordedRequest {
        var record = record
        guard keeps(record) else { return record }
        state.withLock { state in
            state.lastSequence += 1
            record.sequence = state.lastSequence
            state.byteCount += record.byteCount
            state.records.append(record)
            while state.records.count > capacity || (state.byteCount > maxBytes && state.records.count > 1) {
                state.removeOldest()
            }
        }
        feed.publish(.record, record.json)
        return record
    }

    /// Changes a record that is still kept.
    ///
    /// - Returns: false when the record is not kept any more.
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
        feed.publish(.record, changed.json)
        return true
    }

    /// The records in order of arrival.
    ///
    /// - Parameters:
    ///   - after: a record's `Sequence` or `Id`; the result is what came later.
    ///   - limit: the maximum number: the first ones after `after`, or the newest ones without it.
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
        feed.publish(.cleared, .object([]))
    }
}

/// The hub's ID of a send, in the shape of the recorded ones: 32 hexadecimal digits, time, two numbers.
enum HubMessageID {
    /// - Parameter isSchedule: the shape of scheduled sends: joined by `_`, with a queue's name at the end.
    static func make(at time: Timestamp, random: UInt128 = random(), isSchedule: Bool = false) -> String {
        let sequence = 1 + Int(UInt64(truncatingIfNeeded: random) % 99_999_999)
        let bytes = withUnsafeBytes(of: random.bigEndian) { $0.hex }
        let parts = [bytes, time.compact, "\(sequence)", "\(1 + Int(UInt64(truncatingIfNeeded: random >> 64) % 20))"]
        return isSchedule ? parts.joined(separator: "_") + "_QNHQueue1-S1" : parts.joined(separator: "-")
    }

    /// The ID gives no rights, so the number need not be the system's.
    private static func random() -> UInt128 {
        var generator = SplitMix64.reserving(2)
        return .random(in: .min ... .max, using: &generator)
    }

    /// Whether an ID can be one of ours.
    static func isPossible(_ id: String) -> Bool {
        guard id.utf8.count <= 128, ByteSet.visible.containsAll(id) else { return false }
        let parts = id.split(maxSplits: 4, omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        return parts.count >= 4 && parts[0].utf8.count == 32 && Int(parts[2]).map { $0 > 0 } == true
    }
}

/// `/emulator/messages` and `/emulator/events`: the recorded requests and the live feed.
struct RecordController: Sendable {
    let log: RecordLog
    let devices: DeviceRegistry
    let feed: EventFeed

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("messages", use: list)
        emulator.delete("messages") { _, _ in
            devices.clear()
            log.removeAll()
            return Response(status: .noContent)
        }
        emulator.get("events") { request, context in
            guard feed.hasCapacity else {
                throw Problem.serviceUnavailable("The feed has its maximum of \(EventFeed.maxListeners) readers.")
            }
            return EventStreamResponse.make(for: request, on: context.channel) { feed.listen() }
        }
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let query = HubQuery(request.uri.query)
        var limit: Int?
        if let text = query["limit"] {
            guard let number = Int(text), number >= 0 else {
                throw Problem.unprocessable(
                    errors: [.init(pointer: "/Limit", detail: "must be a whole number from 0")])
            }
            limit = number
        }
        return JSONValue.array(log.records(after: query["after"], limit: limit).map(\.json)).response()
    }
}
