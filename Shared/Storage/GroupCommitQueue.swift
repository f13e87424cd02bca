/// The requests that wait for a group commit, as a value: no locks, no tasks, no time.
struct GroupCommitQueue<Element, Waiter> {
    /// The elements of one caller; they stay together.
    struct Request {
        var ticket: Int
        var elements: [Element]
        var waiter: Waiter
        /// What it counts for against the limit.
        var weight: Int
    }

    /// What to do with a new request.
    enum SubmitAction { case wait, wakeLoop, refuse, cancel }

    /// What the loop does next.
    enum NextAction {
        case commit([Request])
        case wait
        case finish
    }

    private enum Phase { case notStarted, running, stopping, stopped }

    private let limit: Int
    private var phase = Phase.notStarted
    private var waiting: [Request] = []
    private var isLoopIdle = false
    private var lastTicket = 0

    init(limit: Int) {
        precondition(limit > 0, "A group holds at least one element.")
        self.limit = limit
    }

    var isRunning: Bool { phase == .running }

    var waitingCount: Int { waiting.count }

    /// Whether nothing is there for the loop to do.
    var canWait: Bool { phase == .running && waiting.isEmpty }

    /// A number that names one request.
    mutating func makeTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    mutating func start() {
        precondition(phase == .notStarted, "A group commit runs once.")
        phase = .running
    }

    /// Takes no more requests; what waits is still to be committed.
    mutating func stop() {
        if phase == .running { phase = .stopping }
    }

    /// - Parameter weight: what the elements count for against the limit, where that is not their number.
    mutating func submit(
        _ ticket: Int, _ elements: [Element], _ waiter: Waiter, isCancelled: Bool, weight: Int? = nil
    ) -> SubmitAction {
        switch phase {
        case .notStarted where isCancelled: return .cancel
        case .stopping, .stopped: return .refuse
        case .notStarted, .running: break
        }
        let weight = weight ?? elements.count
        waiting.append(Request(ticket: ticket, elements: elements, waiter: waiter, weight: weight))
        guard isLoopIdle else { return .wait }
        isLoopIdle = false
        return .wakeLoop
    }

    /// Takes back a cancelled request that no loop has seen; afterwards its commit decides.
    mutating func withdraw(_ ticket: Int) -> Waiter? {
        guard phase == .notStarted, let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return waiting.remove(at: index).waiter
    }

    /// The requests from the front that fit the limit together, and at least one.
    mutating func next() -> NextAction {
        guard !waiting.isEmpty else {
            if phase == .running {
                isLoopIdle = true
                return .wait
            }
            phase = .stopped
            return .finish
        }
        isLoopIdle = false
        var count = 0
        var weight = 0
        while count < waiting.count, count == 0 || weight + waiting[count].weight <= limit {
            weight += waiting[count].weight
            count += 1
        }
        if count == waiting.count {
            defer { waiting = [] }
            return .commit(waiting)
        }
        defer { waiting.removeFirst(count) }
        return .commit(Array(waiting.prefix(count)))
    }
}

extension GroupCommitQueue: Sendable where Element: Sendable, Waiter: Sendable {}
extension GroupCommitQueue.Request: Sendable where Element: Sendable, Waiter: Sendable {}
extension GroupCommitQueue.NextAction: Sendable where Element: Sendable, Waiter: Sendable {}
