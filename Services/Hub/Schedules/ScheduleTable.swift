import Domain
import Foundations
import HTTPTypes
import Logging
import ServiceLifecycle
import Storage
import Synchronization

/// The scheduled sends that are not due yet.
final class ScheduleTable: Sendable {
    /// What only this process knows of a send.
    private struct Note {
        let fate: FaultEffect.Fate?
        let sequence: Int
    }

    private struct State {
        var notes: [String: Note] = [:]
        var sleeper: Task<Void, Never>?
        /// Whether a send came since the service looked for the next one.
        var isNew = false
        /// How many sends there are, and when they were counted.
        var count = 0
        var countedAt: ContinuousClock.Instant?
    }

    /// The maximum number of sends.
    static let maxSends = 100_000
    /// How many sends are delivered in one step.
    private static let maxDue = 100

    private let tables: HubTables
    private let state = Mutex(State())

    init(_ tables: HubTables) { self.tables = tables }

    /// - Throws: 403 when there are too many sends. They are counted once a second.
    func checkCapacity() async throws {
        let isOld = state.withLock { $0.countedAt.map { .now - $0 > .seconds(1) } ?? true }
        if isOld {
            let count = try await tables.scheduleCount()
            state.withLock { ($0.count, $0.countedAt) = (count, .now) }
        }
        guard state.withLock({ $0.count < Self.maxSends }) else {
            throw HubError.full("There are too many scheduled notifications.")
        }
    }

    func add(_ send: ScheduledSend) async throws {
        state.withLock { $0.notes[send.id] = Note(fate: send.fate, sequence: send.sequence) }
        do { try await tables.add(send.stored) } catch {
            forget(send.id)
            throw error
        }
        let sleeper = state.withLock { state in
            state.isNew = true
            state.count += 1
            return state.sleeper
        }
        // It may be the next one now: the service must sleep for a shorter time.
        sleeper?.cancel()
    }

    /// - Returns: the place of its record in the log; 0 if this process did not take it. `nil` if the hub has none of
    ///   this ID.
    func cancel(_ id: String, hubKey: String) async throws -> Int? {
        guard !id.utf8.contains(0), try await tables.removeSchedule(id, hub: hubKey) else { return nil }
        return forget(id)?.sequence ?? 0
    }

    /// The due sends, the earliest first. Each is to be removed when it is delivered; otherwise it is due again later.
    func takeDue(now: Timestamp) async throws -> [ScheduledSend] {
        try await tables.leaseDueSchedules(limit: Self.maxDue, now: now).compactMap { stored in
            guard var send = ScheduledSend(stored) else { return nil }
            if let note = state.withLock({ $0.notes[send.id] }) {
                (send.fate, send.sequence) = (note.fate, note.sequence)
            }
            return send
        }
    }

    func remove(_ send: ScheduledSend) async throws {
        _ = try await tables.removeSchedule(send.id, hub: send.hubKey)
        forget(send.id)
    }

    func removeExpiredInstallations() async throws { _ = try await tables.removeExpired(limit: Self.maxDue) }

    @discardableResult private func forget(_ id: String) -> Note? {
        state.withLock { state in
            state.count -= 1
            return state.notes.removeValue(forKey: id)
        }
    }

    /// Waits until the next send is due, at most a minute, because the clock may be set meanwhile.
    func waitUntilNextIsDue() async throws {
        state.withLock { $0.isNew = false }
        let next = try await tables.nextSchedule()?.milliseconds ?? .max
        let sleeper: Task<Void, Never>? = state.withLock { state in
            if state.isNew { return nil }
            let wait = next.subtractingClamped(Timestamp.now.milliseconds)
            let sleeper = Task { _ = try? await Task.sleep(for: .milliseconds(min(max(wait, 0), 60_000))) }
            state.sleeper = sleeper
            return sleeper
        }
        await withTaskCancellationHandler {
            await sleeper?.value
        } onCancel: {
            sleeper?.cancel()
        }
    }
}

struct ScheduledSend: Sendable {
    let id: String
    let hub: String
    let format: NotificationFormat
    let tags: String?
    let headers: HTTPFields
    let body: [UInt8]
    let dueAt: Timestamp
    /// The fate that a fault decided when the send was accepted.
    var fate: FaultEffect.Fate?
    /// The place of its record in the log; 0 after a restart.
    var sequence = 0

    /// The hub's name in lower case.
    var hubKey: String { hub.lowercased() }
}

/// Delivers scheduled sends when they are due, and removes expired installations.
struct ScheduleService: Service {
    let schedules: ScheduleTable
    let sends: SendProcessor
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await deliverDue()
                    try await schedules.removeExpiredInstallations()
                    try await schedules.waitUntilNextIsDue()
                } catch {
                    logger.warning(
                        "Scheduled notifications wait for the database",
                        metadata: ["error": "\(ErrorText.describe(error))"])
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    /// Delivers what is due. A send waits for the push services, so the others do not wait for it.
    ///
    /// Neither a failure of another send nor a shutdown cuts a send off: it would reach its devices once more.
    ///
    /// - Throws: the first error, after all have ended.
    private func deliverDue() async throws {
        let tasks = try await schedules.takeDue(now: .now).map { send in
            Task {
                try await sends.deliver(send)
                try await schedules.remove(send)
            }
        }
        var results: [Result<Void, any Error>] = []
        for task in tasks { results.append(await task.result) }
        for result in results { try result.get() }
    }
}
