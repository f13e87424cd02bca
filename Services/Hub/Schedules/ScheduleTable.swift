import Foundations
import HTTPTypes
import ServiceLifecycle
import Synchronization

/// The scheduled sends that are not due yet.
final class ScheduleTable: Sendable {
    private struct State {
        var sends: [String: ScheduledSend] = [:]
        /// By descending time: the next one is last.
        var order: [(dueAt: Int64, id: String)] = []
        var sleeper: Task<Void, Never>?
        /// The approximate memory of the sends, in bytes.
        var byteCount = 0
    }

    /// The maximum number of sends.
    static let maxSends = 100_000
    /// The approximate maximum of their memory, in bytes.
    static let maxBytes = 256 * 1024 * 1024

    private let state = Mutex(State())
    private let journal: StateJournal

    init(journal: StateJournal = .none) {
        self.journal = journal
    }

    var count: Int { state.withLock { $0.sends.count } }

    /// - Throws: 403 when there are too many sends.
    func checkCapacity() throws(HubError) {
        let hasCapacity = state.withLock { $0.sends.count < Self.maxSends && $0.byteCount < Self.maxBytes }
        guard hasCapacity else { throw HubError.full("There are too many scheduled notifications.") }
    }

    func add(_ send: ScheduledSend) {
        restore(send)
        journal.put(.schedule, hub: send.hubKey, key: send.id, value: StoredSchedule.encode(send))
    }

    /// Adds a send that is in the journal already.
    func restore(_ send: ScheduledSend) {
        let due = send.dueAt.milliseconds
        let sleeper: Task<Void, Never>? = state.withLock { state in
            if let former = state.sends.updateValue(send, forKey: send.id) {
                state.byteCount -= former.byteCount
                state.order.removeAll { $0.id == send.id }
            }
            state.byteCount += send.byteCount
            var range = 0..<state.order.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range =
                    state.order[middle].dueAt <= due ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
            }
            state.order.insert((due, send.id), at: range.lowerBound)
            return state.order.last?.id == send.id ? state.sleeper : nil
        }
        // It is the next one now: the service must sleep for a shorter time.
        sleeper?.cancel()
    }

    /// - Returns: the cancelled send; nil when the hub has none of this ID.
    func cancel(_ id: String, hubKey: String) -> ScheduledSend? {
        let removed: ScheduledSend? = state.withLock { state in
            guard let send = state.sends[id], send.hubKey == hubKey else { return nil }
            state.sends[id] = nil
            state.byteCount -= send.byteCount
            state.order.removeAll { $0.id == id }
            return send
        }
        if let removed { journal.remove(.schedule, hub: removed.hubKey, key: removed.id) }
        return removed
    }

    /// Removes the due sends and returns them, the earliest first.
    func removeDue(now: Timestamp) -> [ScheduledSend] {
        let due: [ScheduledSend] = state.withLock { state in
            var due: [ScheduledSend] = []
            while let next = state.order.last, next.dueAt <= now.milliseconds {
                state.order.removeLast()
                guard let send = state.sends.removeValue(forKey: next.id) else { continue }
                state.byteCount -= send.byteCount
                due.append(send)
            }
            return due
        }
        for send in due { journal.remove(.schedule, hub: send.hubKey, key: send.id) }
        return due
    }

    /// Waits until the next send is due, at most a minute, because the clock may be set meanwhile.
    func waitUntilNextIsDue() async {
        let sleeper = state.withLock { state in
            let wait = (state.order.last?.dueAt ?? .max).subtractingClamped(Timestamp.now.milliseconds)
            let sleeper = Task { _ = try? await Task.sleep(for: .milliseconds(min(max(wait, 0), 60_000))) }
            state.sleeper = sleeper
            return sleeper
        }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
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

    /// The approximate memory, in bytes.
    var byteCount: Int { 400 + body.count + headers.byteCount + (tags?.utf8.count ?? 0) }
}

/// Delivers scheduled sends when they are due.
struct ScheduleService: Service {
    let schedules: ScheduleTable
    let sends: SendProcessor

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                for send in schedules.removeDue(now: .now) { sends.deliver(send) }
                await schedules.waitUntilNextIsDue()
            }
        }
    }
}
