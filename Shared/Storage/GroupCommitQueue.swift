import Domain

/// The requests that wait for a group commit, as a value without locks, tasks or clocks.
///
/// At most one commit is in flight. The first caller to submit while nothing is in flight starts it, and its end starts
/// the next one.
struct GroupCommitQueue<Element, Waiter> {
    /// One caller, whose elements stay together.
    struct Request {
        /// Identifies a caller that may withdraw.
        var ticket: Int?
        var count: Int
        var waiter: Waiter
        /// How much it counts against the limit.
        var weight: Int
        /// The memory that its elements hold.
        var bytes: Int
    }

    /// What one commit contains.
    struct Group {
        /// The elements of all requests, in the order of the requests.
        var elements: [Element]
        var requests: [Request]

        /// Two groups of about as many requests; `nil` for one request, whose elements stay together.
        var halves: (first: Group, second: Group)? {
            guard requests.count > 1 else { return nil }
            let middle = requests.count / 2
            let size = requests[..<middle].reduce(0) { $0 + $1.count }
            return (
                Group(elements: Array(elements[..<size]), requests: Array(requests[..<middle])),
                Group(elements: Array(elements[size...]), requests: Array(requests[middle...]))
            )
        }
    }

    /// How much may wait. If nothing waits, a request of any size is accepted: the callers bound its size.
    struct Capacity {
        var maxCount: Int
        var maxBytes: Int

        /// 65,536 elements and 64 MiB: seconds of work for a database, and little memory even on a small machine.
        static var standard: Capacity { Capacity(maxCount: 65_536, maxBytes: 64 << 20) }
    }

    /// The decision about a new request. After `begin` the caller takes the next step.
    enum SubmitAction { case wait, begin, refuse, overload, cancel }

    /// The next step after a commit, or at the beginning.
    enum NextAction {
        case commit(Group)
        /// Nothing is in flight until the next request.
        case wait
        case finish
    }

    private enum Phase { case notStarted, running, stopping, stopped }

    private let limit: Int
    private let capacity: Capacity
    private var phase = Phase.notStarted
    /// Bounded by ``capacity``.
    private var waiting: [Request] = []
    /// The elements of ``waiting``, in one array, so that a request of one element needs none of its own.
    private var elements: [Element] = []
    private var waitingBytes = 0
    private var isIdle = false
    private var lastTicket = 0

    init(limit: Int, capacity: Capacity = .standard) {
        precondition(limit > 0, "A group holds at least one element.")
        self.limit = limit
        self.capacity = capacity
    }

    var isRunning: Bool { phase == .running }

    /// Whether all that waited was committed after ``stop()``.
    var isStopped: Bool { phase == .stopped }

    var waitingCount: Int { waiting.count }

    /// A number that identifies one request.
    mutating func makeTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// Commits requests from now on.
    ///
    /// - Returns: whether some wait already, so that the caller takes the next step.
    mutating func start() -> Bool {
        precondition(phase == .notStarted, "A group commit runs once.")
        phase = .running
        isIdle = waiting.isEmpty
        return !isIdle
    }

    /// Refuses new requests; those that wait are still committed.
    ///
    /// - Returns: whether nothing is in flight, so that the caller takes the next step, which is the last.
    mutating func stop() -> Bool {
        guard phase == .running else { return false }
        phase = .stopping
        defer { isIdle = false }
        return isIdle
    }

    /// - Parameters:
    ///   - ticket: for ``withdraw(_:)``; `nil` for a caller that cannot withdraw.
    ///   - weight: how much the elements count against the limit; by default their number.
    ///   - bytes: the approximate memory of the elements.
    mutating func submit(
        _ ticket: Int?, _ new: some Collection<Element>, _ waiter: Waiter, isCancelled: Bool, weight: Int? = nil,
        bytes: Int = 0
    ) -> SubmitAction {
        switch phase {
        case .notStarted where isCancelled: return .cancel
        case .stopping, .stopped: return .refuse
        case .notStarted, .running: break
        }
        let count = new.count
        let isFull = elements.count > capacity.maxCount - count || waitingBytes > capacity.maxBytes - bytes
        if isFull && !waiting.isEmpty { return .overload }
        waiting.append(
            Request(ticket: ticket, count: count, waiter: waiter, weight: weight ?? count, bytes: bytes))
        elements.append(contentsOf: new)
        waitingBytes += bytes
        guard isIdle else { return .wait }
        isIdle = false
        return .begin
    }

    /// Removes a cancelled request before the start; afterwards its commit decides.
    mutating func withdraw(_ ticket: Int) -> Waiter? {
        guard phase == .notStarted, let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        let start = waiting[..<index].reduce(0) { $0 + $1.count }
        let request = waiting.remove(at: index)
        elements.removeSubrange(start..<(start + request.count))
        waitingBytes -= request.bytes
        return request.waiter
    }

    /// Removes all requests that wait.
    mutating func removeAll() -> [Waiter] {
        defer { (waiting, elements, waitingBytes) = ([], [], 0) }
        return waiting.map(\.waiter)
    }

    /// The requests from the front that together fit the limit; at least one.
    mutating func next() -> NextAction {
        guard let first = waiting.first else {
            if phase == .running {
                isIdle = true
                return .wait
            }
            phase = .stopped
            return .finish
        }
        var (count, size, weight) = (1, first.count, first.weight)
        while count < waiting.count, weight + waiting[count].weight <= limit {
            size += waiting[count].count
            weight += waiting[count].weight
            count += 1
        }
        return .commit(take(count, size: size))
    }

    private mutating func take(_ count: Int, size: Int) -> Group {
        guard count < waiting.count else {
            defer { (waiting, elements, waitingBytes) = ([], [], 0) }
            return Group(elements: elements, requests: waiting)
        }
        let group = Group(elements: Array(elements.prefix(size)), requests: Array(waiting.prefix(count)))
        elements.removeFirst(size)
        waiting.removeFirst(count)
        waitingBytes = group.requests.reduce(waitingBytes) { $0 - $1.bytes }
        return group
    }
}

extension GroupCommitQueue: Sendable where Element: Sendable, Waiter: Sendable {}
extension GroupCommitQueue.Request: Sendable where Element: Sendable, Waiter: Sendable {}
extension GroupCommitQueue.Group: Sendable where Element: Sendable, Waiter: Sendable {}
extension GroupCommitQueue.NextAction: Sendable where Element: Sendable, Waiter: Sendable {}

extension SealedNotification {
    /// A payload counts as one more row per this many bytes when groups are formed.
    static let bytesPerWeight = 16 * 1024

    /// How many rows it counts as when groups are formed. Large payloads make small groups, so that small notifications
    /// do not wait for megabytes.
    var commitWeight: Int { 1 + payload.bytes.count / Self.bytesPerWeight }
}

extension SealedNotification {
    /// Whether it has one of the members that few notifications have: reminders, a display, a question.
    var hasExtras: Bool { !notification.remind.isEmpty || notification.display != .full || question != nil }

    /// The approximate memory while it waits; see ``GroupCommitQueue/Capacity``.
    var heldBytes: Int {
        let alert = (notification.alert?.title?.utf8.count ?? 0) + (notification.alert?.body?.utf8.count ?? 0)
        return 512 + payload.bytes.count + alert + notification.recipient.text.utf8.count
    }
}
