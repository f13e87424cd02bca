import HTTPTypes
import Synchronization

/// The notifications that wait for their time.
final class ScheduleBook: Sendable {
    private struct State {
        var sends: [String: ScheduledSend] = [:]
        /// By time, the next one last.
        var order: [(dueAt: Int64, id: String)] = []
        var sleeper: Task<Void, Never>?
        /// About how much memory the sends hold.
        var byteCount = 0
    }

    /// How many sends wait at most, and how much memory they hold, about.
    static let maxSends = 100_000
    static let maxBytes = 256 * 1024 * 1024

    private let state = Mutex(State())
    private let journal: StateJournal

    init(journal: StateJournal = .none) {
        self.journal = journal
    }

    var count: Int { state.withLock { $0.sends.count } }

    /// - Throws: 403 when there are too many already.
    func checkRoom() throws(HubError) {
        let hasRoom = state.withLock { $0.sends.count < Self.maxSends && $0.byteCount < Self.maxBytes }
        guard hasRoom else {
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
        // It comes before all others: whoever sleeps until the next one must look again.
        sleeper?.cancel()
    }

    /// - Returns: the send that is not to be sent any more; nil when there is none of this ID on the hub.
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

    /// Takes out the sends whose time has come, the earliest first.
    func takeDue(now: WireTime) -> [ScheduledSend] {
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

    /// Sleeps until the next send is due, at most a minute, since the clock may be set meanwhile.
    func waitForNext() async {
        let sleeper = state.withLock { state in
            let (difference, isOverflow) = (state.order.last?.dueAt ?? .max)
                .subtractingReportingOverflow(WireTime.now.milliseconds)
            let wait = isOverflow ? 60_000 : min(max(difference, 0), 60_000)
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
