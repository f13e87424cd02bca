import Crypto
import Domain
import Foundations
import Logging
import Metrics
import ServiceRuntime
import Storage
import Synchronization

/// The scheduled sends that are not due yet.
final class ScheduleTable: Sendable {
    /// The state of a send that only this process has.
    private struct Note {
        let fate: FaultEffect.Fate?
        let sequence: Int
        /// Another process may deliver the send, and this one never hears of it.
        let forgetAt: Timestamp
    }

    private struct State {
        var notes: [String: Note] = [:]
        /// The sends that this process delivers at the moment.
        var running: Set<String> = []
        /// How many sends there are, and when they were counted.
        var count = 0
        var countedAt: ContinuousClock.Instant?
    }

    /// The maximum number of sends.
    static let maxSends = 100_000
    /// How many sends are delivered at a time.
    private static let maxRunning = 100
    /// How many installations are removed in one step.
    private static let maxExpired = 100
    /// How long a send waits that could not continue, because the database was unavailable.
    private static let pause = Duration.seconds(5)
    /// The time between two tries to store the progress of a delivery, while the database is unavailable.
    private static let repetition = Duration.milliseconds(500)
    private static let maxWait = Duration.seconds(60)

    private let tables: HubTables
    private let logger: Logger
    /// Tells this process from others.
    private let claim = Int64.random(in: 1...Int64.max)
    private let state = Mutex(State())
    private let alarm = DueAlarm()

    init(_ tables: HubTables, logger: Logger) {
        self.tables = tables
        self.logger = logger
    }

    /// - Throws: 403 when there are too many sends. They are counted once a second.
    func checkCapacity() async throws {
        let isOld = state.withLock { $0.countedAt.map { .now - $0 > .seconds(1) } ?? true }
        if isOld {
            let count = try await tables.scheduleCount()
            state.withLock { state in
                (state.count, state.countedAt) = (count, .now)
                let now = Timestamp.now
                state.notes = state.notes.filter { $0.value.forgetAt > now }
            }
        }
        guard state.withLock({ $0.count < Self.maxSends }) else {
            throw HubError.full("There are too many scheduled notifications.")
        }
    }

    func add(_ send: ScheduledSend) async throws {
        let note = Note(
            fate: send.fate, sequence: send.sequence, forgetAt: max(send.dueAt, .now) + .seconds(3600))
        state.withLock { $0.notes[send.id] = note }
        do { try await tables.add(send.stored) } catch {
            _ = state.withLock { $0.notes.removeValue(forKey: send.id) }
            throw error
        }
        state.withLock { $0.count += 1 }
        alarm.ring(by: send.dueAt)
    }

    /// - Returns: the place of its record in the log; 0 if this process did not take it. `nil` if the hub has none of
    ///   this ID.
    func cancel(_ id: String, hubKey: String) async throws -> Int? {
        guard !id.utf8.contains(0), try await tables.removeSchedule(id, hub: hubKey) else { return nil }
        return state.withLock { state in
            state.count -= 1
            return state.notes.removeValue(forKey: id)
        }?.sequence ?? 0
    }

    /// The due sends that this process does not deliver yet, the earliest first. Each is to be given to ``end(_:as:)``.
    func takeDue(now: Timestamp) async throws -> [ScheduledSend] {
        let limit = state.withLock { Self.maxRunning - $0.running.count }
        if limit < 1 { return [] }
        var taken: [ScheduledSend] = []
        for stored in try await tables.leaseDueSchedules(limit: limit, claim: claim, now: now) {
            // Its lease had ended, and this process has leased it again.
            guard state.withLock({ $0.running.insert(stored.id).inserted }) else { continue }
            guard var send = ScheduledSend(stored) else {
                await end(stored.id, hubKey: stored.hub, as: .unreadable)
                continue
            }
            if let note = state.withLock({ $0.notes[send.id] }) {
                (send.fate, send.sequence) = (note.fate, note.sequence)
            }
            taken.append(send)
        }
        return taken
    }

    /// Notes that the registrations of a send up to a place have their pushes, and extends the lease. While the
    /// database is unavailable, it tries until the lease ends.
    ///
    /// - Returns: `false` if the send was cancelled, or another process delivers it meanwhile.
    /// - Throws: ``StorageError``.
    func advance(_ send: ScheduledSend, to place: Int64) async throws -> Bool {
        try await whileAway {
            let until = Timestamp.now + HubTables.scheduleLease
            return try await tables.extendSchedule(send.id, claim: claim, place: place, until: until)
        }
    }

    /// How a delivery ended.
    enum End {
        case delivered
        /// Another process delivers it, or a client has cancelled it.
        case lost
        /// The service stops, and another process continues at once.
        case stopped
        /// The database is unavailable. Any process continues when it is back.
        case failed
        /// The stored form cannot be read.
        case unreadable
    }

    /// Ends a delivery that ``takeDue(now:)`` has begun. While the database is unavailable, it tries until the lease
    /// ends. If the end cannot be stored, the send is due again when its lease ends.
    func end(_ send: ScheduledSend, as end: End) async { await self.end(send.id, hubKey: send.hubKey, as: end) }

    private func end(_ id: String, hubKey: String, as end: End) async {
        do {
            try await whileAway { try await store(end, of: id, hubKey: hubKey) }
        } catch {
            logger.warning(
                "The end of a scheduled notification cannot be stored, and a part of it may be sent again",
                metadata: ["error": "\(ErrorText.describe(error))"])
        }
        let wasFull = state.withLock { state in
            defer { state.running.remove(id) }
            if end != .failed { state.notes[id] = nil }
            if end == .delivered { state.count -= 1 }
            return state.running.count >= Self.maxRunning
        }
        if wasFull || end == .failed { alarm.ring(by: .now) }
    }

    private func store(_ end: End, of id: String, hubKey: String) async throws {
        switch end {
        case .delivered: _ = try await tables.removeSchedule(id, hub: hubKey)
        case .lost: break
        case .stopped: try await tables.makeScheduleDue(id, claim: claim, at: .now)
        case .failed: try await tables.makeScheduleDue(id, claim: claim, at: .now + Self.pause)
        case .unreadable:
            if try await tables.setAsideSchedule(id, claim: claim, now: .now) {
                Metric.hubSchedulesSetAside.counter(hubKey).increment()
                logger.error(
                    "A scheduled notification cannot be read: it is set aside, and not sent",
                    metadata: ["hub": "\(hubKey)", "id_hash": "\(Self.hash(id))"])
            }
        }
    }

    /// Repeats an operation until the lease ends, if it fails because the database is unavailable. Otherwise pushes
    /// that are not noted would go out again. It is not repeated when the task is cancelled.
    private func whileAway<Value>(_ body: () async throws -> Value) async throws -> Value {
        let deadline = ContinuousClock.now + HubTables.scheduleLease
        while true {
            do {
                return try await body()
            } catch let error as StorageError where error.isRetriable && .now < deadline && !Task.isCancelled {
                try? await Task.sleep(for: Self.repetition)
            }
        }
    }

    /// The first 8 hexadecimal digits of a hash, by which a person finds the row.
    private static func hash(_ id: String) -> String { Array(SHA256.hash(data: Array(id.utf8)).prefix(4)).hex }

    func removeExpiredInstallations() async throws {
        while try await tables.removeExpired(limit: Self.maxExpired) == Self.maxExpired { try Task.checkCancellation() }
    }

    /// Waits until the next send is due, or one more can be delivered; at most a minute, because the clock may be set
    /// meanwhile.
    func waitUntilNextIsDue() async throws {
        let isFull = state.withLock { $0.running.count >= Self.maxRunning }
        let next = isFull ? nil : try await tables.nextSchedule()
        await alarm.wait(for: min(next.map { $0 - .now } ?? Self.maxWait, Self.maxWait), .system)
    }
}
