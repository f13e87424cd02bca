import SecurePushCore

/// The requests that wait for a group commit, as a value without locks, tasks or clocks.
struct GroupCommitQueue<Element, Waiter> {
    /// The elements of one caller; they stay together.
    struct Request {
        var ticket: Int
        var elements: [Element]
        var waiter: Waiter
        /// How much it counts against the limit.
        var weight: Int
        /// The memory that its elements hold.
        var bytes: Int
    }

    /// How much may wait. If nothing waits, a request of any size is accepted: the callers bound its size.
    struct Capacity {
        /// The number of elements.
        var maxCount: Int
        var maxBytes: Int

        /// 65,536 elements and 64 MiB: seconds of work for a database, and little memory even on a small machine.
        static var standard: Capacity { Capacity(maxCount: 65_536, maxBytes: 64 << 20) }
    }

    /// The decision about a new request.
    enum SubmitAction { case wait, wakeLoop, refuse, overload, cancel }

    /// The next step of the loop.
    enum NextAction {
        case commit([Request])
        case wait
        case finish
    }

    private enum Phase { case notStarted, running, stopping, stopped }

    private let limit: Int
    private let capacity: Capacity
    private var phase = Phase.notStarted
    /// Bounded by ``capacity``.
    private var waiting: [Request] = []
    /// The elements of ``waiting``, and their bytes.
    private var waitingElements = 0
    private var waitingBytes = 0
    private var isLoopIdle = false
    private var lastTicket = 0

    init(limit: Int, capacity: Capacity = .standard) {
        precondition(limit > 0, "A group holds at least one element.")
        self.limit = limit
        self.capacity = capacity
    }

    var isRunning: Bool { phase == .running }

    var waitingCount: Int { waiting.count }

    /// Whether the loop has nothing to do.
    var canWait: Bool { phase == .running && waiting.isEmpty }

    /// A number that identifies one request.
    mutating func makeTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    mutating func start() {
        precondition(phase == .notStarted, "A group commit runs once.")
        phase = .running
    }

    /// Refuses new requests; those that wait are still committed.
    mutating func stop() {
        if phase == .running { phase = .stopping }
    }

    /// - Parameters:
    ///   - weight: how much the elements count against the limit; by default their number.
    ///   - bytes: the approximate memory of the elements.
    mutating func submit(
        _ ticket: Int, _ elements: [Element], _ waiter: Waiter, isCancelled: Bool, weight: Int? = nil, bytes: Int = 0
    ) -> SubmitAction {
        switch phase {
        case .notStarted where isCancelled: return .cancel
        case .stopping, .stopped: return .refuse
        case .notStarted, .running: break
        }
        let weight = weight ?? elements.count
        let isFull =
            waitingElements > capacity.maxCount - elements.count || waitingBytes > capacity.maxBytes - bytes
        if isFull && !waiting.isEmpty { return .overload }
        waiting.append(Request(ticket: ticket, elements: elements, waiter: waiter, weight: weight, bytes: bytes))
        waitingElements += elements.count
        waitingBytes += bytes
        guard isLoopIdle else { return .wait }
        isLoopIdle = false
        return .wakeLoop
    }

    /// Removes a cancelled request before the loop has started; afterwards its commit decides.
    mutating func withdraw(_ ticket: Int) -> Waiter? {
        guard phase == .notStarted, let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        let request = waiting.remove(at: index)
        release([request])
        return request.waiter
    }

    /// The requests from the front that together fit the limit; at least one.
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
        let group = count == waiting.count ? waiting : Array(waiting.prefix(count))
        if count == waiting.count { waiting = [] } else { waiting.removeFirst(count) }
        release(group)
        return .commit(group)
    }

    private mutating func release(_ requests: [Request]) {
        for request in requests {
            waitingElements -= request.elements.count
            waitingBytes -= request.bytes
        }
    }
}

extension GroupCommitQueue: Sendable where Element: Sendable, Waiter: Sendable {}
extension GroupCommitQueue.Request: Sendable where Element: Sendable, Waiter: Sendable {}
extension GroupCommitQueue.NextAction: Sendable where Element: Sendable, Waiter: Sendable {}

extension SealedNotification {
    /// A payload counts as one more row per this many bytes when groups are formed.
    static let bytesPerWeight = 16 * 1024

    /// How many rows it counts as when groups are formed. Large payloads make small groups, so that small notifications
    /// do not wait for megabytes.
    var commitWeight: Int { 1 + payload.bytes.count / Self.bytesPerWeight }
}

extension SealedNotification {
    /// Whether it is to be followed by reminders.
    var hasReminders: Bool { !notification.remind.isEmpty }

    /// The approximate memory while it waits; see ``GroupCommitQueue/Capacity``.
    var heldBytes: Int {
        let alert = (notification.alert?.title?.utf8.count ?? 0) + (notification.alert?.body?.utf8.count ?? 0)
        return 512 + payload.bytes.count + alert + notification.recipient.text.utf8.count
    }
}
