import HTTPTypes
import Synchronization

/// The notifications that wait for their time.
final class ScheduleBook: Sendable {
    private struct State {
        var sends: [String: ScheduledSend] = [:]
        /// By time, the next one last.
        var order: [(dueAt: Int64, id: String)] = []
        var sleeper: Task<Void, Never>?
    }

    private static let capacity = 100_000

    private let state = Mutex(State())
    private let journal: StateJournal

    init(journal: StateJournal = .none) {
        self.journal = journal
    }

    var count: Int { state.withLock { $0.sends.count } }

    /// - Throws: 403 when there are too many already.
    func checkRoom() throws(HubError) {
        guard count < Self.capacity else {
            throw HubError(.forbidden, detail: "There are too many scheduled notifications.")
        }
    }

    func add(_ send: ScheduledSend) {
        restore(send)
        journal.put(.schedule, hub: send.hubKey, key: send.id, value: StoredSchedule.encode(send))
    }

    /// Takes a send that is in the journal already.
    func restore(_ send: ScheduledSend) {
        let due = send.dueAt.milliseconds
        let sleeper: Task<Void, Never>? = state.withLock { state in
            state.sends[send.id] = send
            var range = 0..<state.order.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range =
                    state.order[middle].dueAt <= due ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
            }
            state.order.insert((due, send.id), at: range.lowerBound)
            return state.order.last?.id == send.id ? state.sleeper : nil
        }
        // It comes before all others: whoever sleeps until the next one must look again.
        sleeper?.cancel()
    }

    /// - Returns: the send that is not to be sent any more; nil when there is none of this ID on the hub.
    func cancel(_ id: String, hubKey: String) -> ScheduledSend? {
        let removed: ScheduledSend? = state.withLock { state in
            guard let send = state.sends[id], send.hubKey == hubKey else { return nil }
            state.sends[id] = nil
            state.order.removeAll { $0.id == id }
            return send
        }
        if let removed { journal.remove(.schedule, hub: removed.hubKey, key: removed.id) }
        return removed
    }

    /// Takes out the sends whose time has come, the earliest first.
    func takeDue(now: WireTime) -> [ScheduledSend] {
        let due: [ScheduledSend] = state.withLock { state in
            var due: [ScheduledSend] = []
            while let next = state.order.last, next.dueAt <= now.milliseconds {
                state.order.removeLast()
                if let send = state.sends.removeValue(forKey: next.id) { due.append(send) }
            }
            return due
        }
        for send in due { journal.remove(.schedule, hub: send.hubKey, key: send.id) }
        return due
    }

    /// Sleeps until the next send is due, at most a minute, since the clock may be set meanwhile.
    func waitForNext() async {
        let sleeper = state.withLock { state in
            let wait = min(max((state.order.last?.dueAt ?? .max) - WireTime.now.milliseconds, 0), 60_000)
            let sleeper = Task { _ = try? await Task.sleep(for: .milliseconds(wait)) }
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
