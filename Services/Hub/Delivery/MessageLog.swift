import DequeModule
import Domain
import Foundations
import Logging
import Storage
import Synchronization

/// The results of messages, which telemetry reads.
///
/// A message without stored pushes is written after the answer to its send, together with others. A crash can lose its
/// result, but no push. Until it is written, it is read from here. A store in memory loses it at a restart anyway. With
/// such a store only the newest messages are kept, and only here, so that the memory is bounded.
final class MessageLog: Sendable {
    private struct Unwritten: Sendable {
        var messages: [String: HubMessage] = [:]
        var bytes = 0
        /// The IDs of messages that stay, the oldest first.
        var order: Deque<String> = []

        /// - Returns: whether it is new.
        mutating func insert(_ message: HubMessage) -> Bool {
            let former = messages.updateValue(message, forKey: message.id)
            bytes += MessageLog.bytes(message) - (former.map(MessageLog.bytes) ?? 0)
            return former == nil
        }

        mutating func remove(_ id: String) {
            guard let former = messages.removeValue(forKey: id) else { return }
            bytes -= MessageLog.bytes(former)
        }
    }

    private final class Shelf: Sendable {
        let unwritten = Mutex(Unwritten())

        /// Forgets the written messages, unless they have changed since.
        func remove(_ written: [HubMessage]) {
            unwritten.withLock { state in
                for message in written where state.messages[message.id] == message { state.remove(message.id) }
            }
        }
    }

    /// The maximum of messages and of bytes. Further results are lost while the database is unavailable.
    private static let capacity = 10_000
    private static let maxBytes = 64 << 20
    /// A commit costs the same for one message and for hundreds, and nobody waits for it.
    private static let gathering = Duration.milliseconds(20)

    private let tables: HubTables
    private let isVolatile: Bool
    private let shelf: Shelf
    private let queue: WriteQueue<HubMessage>
    private let loss = LastingProblemLog("Results of messages are lost, because too many wait for the database")
    private let logger: Logger

    /// - Parameter isVolatile: whether the tables are in memory.
    init(_ tables: HubTables, isVolatile: Bool, logger: Logger) {
        let shelf = Shelf()
        self.tables = tables
        self.isVolatile = isVolatile
        self.shelf = shelf
        self.logger = logger
        queue = WriteQueue(
            "Results of messages", capacity: 2 * Self.capacity, gathering: Self.gathering, logger: logger
        ) { messages in
            do {
                try await tables.keep(messages)
            } catch let error as StorageError where !error.isRetriable && messages.count == 1 {
                shelf.remove(messages)
                throw error
            }
            shelf.remove(messages)
        }
    }

    /// Writes a message soon.
    func put(_ message: HubMessage) {
        let isFull = shelf.unwritten.withLock { state in
            if !isVolatile, state.messages.count >= Self.capacity || state.bytes >= Self.maxBytes { return true }
            let isNew = state.insert(message)
            guard isVolatile else { return false }
            if isNew { state.order.append(message.id) }
            while state.messages.count > Self.capacity || state.bytes > Self.maxBytes,
                let oldest = state.order.popFirst()
            { state.remove(oldest) }
            return false
        }
        if isFull { return loss.failed(to: logger) }
        if !isVolatile { queue.put([message]) }
    }

    /// Writes a message now.
    ///
    /// - Throws: ``StorageError``.
    func keep(_ message: HubMessage) async throws {
        if isVolatile { put(message) } else { try await tables.keep([message]) }
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

    /// The message is in the tables, with pushes in flight.
    func forget(_ id: String) { shelf.unwritten.withLock { $0.remove(id) } }

    func finish() async { await queue.finish() }

    fileprivate static func bytes(_ message: HubMessage) -> Int { 512 + message.body.count }
}
