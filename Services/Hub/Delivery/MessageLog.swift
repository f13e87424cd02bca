import Foundations
import Logging
import Storage
import Synchronization

/// The results of messages, which telemetry reads.
///
/// A message of which nothing has to be stored is written behind the answer to its send, with others: losing its result
/// in a crash loses no push. Until it is written, it is read from here.
final class MessageLog: Sendable {
    private struct Unwritten: Sendable {
        var messages: [String: HubMessage] = [:]
        var bytes = 0
    }

    private final class Shelf: Sendable {
        let unwritten = Mutex(Unwritten())

        /// Forgets what is written, unless it has changed since.
        func remove(_ written: [HubMessage]) {
            unwritten.withLock { state in
                for message in written where state.messages[message.id] == message {
                    state.messages[message.id] = nil
                    state.bytes -= MessageLog.bytes(message)
                }
            }
        }
    }

    /// What may wait while the database is away, in messages and in bytes; further results are lost.
    private static let capacity = 10_000
    private static let maxBytes = 64 << 20

    private let tables: HubTables
    private let shelf: Shelf
    private let queue: WriteQueue<HubMessage>

    init(_ tables: HubTables, logger: Logger) {
        let shelf = Shelf()
        self.tables = tables
        self.shelf = shelf
        queue = WriteQueue("Results of messages", capacity: Self.capacity, logger: logger) { messages in
            try await tables.keep(messages)
            shelf.remove(messages)
        }
    }

    /// Writes a message soon.
    func put(_ message: HubMessage) {
        let isTaken = shelf.unwritten.withLock { state in
            let former = state.messages[message.id].map(Self.bytes) ?? 0
            guard state.messages.count < Self.capacity, state.bytes < Self.maxBytes else { return false }
            state.messages[message.id] = message
            state.bytes += Self.bytes(message) - former
            return true
        }
        if isTaken { queue.put([message]) }
    }

    /// - Parameter hub: the hub's name in lower case.
    func message(_ id: String, hub: String) async throws -> HubMessage? {
        if let message = shelf.unwritten.withLock({ $0.messages[id] }) { return message.hub == hub ? message : nil }
        return try await tables.message(id, hub: hub)
    }

    /// Changes the state of a message, if it is known.
    func change(_ id: String, hub: String, state: String, at time: Timestamp) async throws {
        if var message = shelf.unwritten.withLock({ $0.messages[id] }) {
            (message.state, message.completedAt) = (state, time)
            return put(message)
        }
        try await tables.change(id, hub: hub, state: state, at: time)
    }

    func finish() async { await queue.finish() }

    private static func bytes(_ message: HubMessage) -> Int { 512 + message.body.count }
}
