import SecurePushCore
import Synchronization

/// All that a load test has measured so far. Shared by everything that runs, and readable at any time, so that an
/// interrupted test can still tell what it saw.
///
/// Memory is bounded by the IDs: 16 bytes for each accepted notification.
final class LoadLedger: Sendable {
    /// How many notifications are looked at one by one for the time that their dispatch took.
    static let sampleSize = 2000
    /// Requests fail and nothing was accepted for this long: the service is gone.
    static let patience = Duration.seconds(10)

    struct State: Sendable {
        var pacer: LoadPacer
        /// When sending began and ended.
        var began: ContinuousClock.Instant?
        var ended: ContinuousClock.Instant?
        var lastAccepted: ContinuousClock.Instant?
        var accepted = HdrHistogram()
        /// How many were not accepted, by reason.
        var failures: [String: Int] = [:]
        var ids: [NotificationID] = []
        /// Those to be looked at that have not been seen at their end yet.
        var samples: [NotificationID] = []
        var dispatch = DispatchFigures()
        var reads = ReadFigures()
        /// What kept the test from measuring what it should, one sentence each.
        var problems: [String] = []
        var isGivenUp = false

        var failed: Int { failures.values.reduce(0, +) }
    }

    let plan: LoadPlan
    private let stride: Int
    private let state: Mutex<State>

    init(_ plan: LoadPlan) {
        self.plan = plan
        stride = (plan.count + LoadLedger.sampleSize - 1) / LoadLedger.sampleSize
        state = Mutex(State(pacer: LoadPacer(plan)))
    }

    /// Everything, for the end: while it is kept, the next record would have to copy all IDs.
    var snapshot: State { state.withLock { $0 } }

    @discardableResult
    func update<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    // MARK: Sending

    func begin(at time: ContinuousClock.Instant) {
        state.withLock { state in
            state.began = time
            state.lastAccepted = time
        }
    }

    /// The next request; `nil` when there is none left, or no use in sending it.
    func take() -> LoadPacer.Ticket? { state.withLock { $0.isGivenUp ? nil : $0.pacer.take() } }

    /// Notes what became of a notification whose request began, or should have begun, at `start`.
    func record(_ notification: Int, _ result: PushResult, start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        state.withLock { state in
            switch result {
            case .accepted(let id):
                if state.ids.count.isMultiple(of: stride) { state.samples.append(id) }
                state.ids.append(id)
                state.accepted.record((now - start).microseconds)
                state.lastAccepted = now
                if plan.isForDevice(notification) { state.reads.expected += 1 }
            case .failed(let reason):
                state.failures[reason, default: 0] += 1
                guard let last = state.lastAccepted, now - last > LoadLedger.patience, !state.isGivenUp else { return }
                state.isGivenUp = true
                state.problems.append("Sending was given up: every request has failed for 10 s.")
            }
        }
    }

    func endSending(at time: ContinuousClock.Instant) {
        state.withLock { state in
            state.ended = time
            // The last one tells when the backlog was gone.
            if let last = state.ids.max(), !state.samples.contains(last), !state.dispatch.seen.contains(last) {
                state.samples.append(last)
            }
        }
    }

    func note(problem: String) { state.withLock { $0.problems.append(problem) } }

    // MARK: Dispatch

    /// Takes samples out to be looked at, the oldest first.
    func takeSamples(_ most: Int) -> [NotificationID] {
        state.withLock { state in
            let taken = Array(state.samples.prefix(most))
            state.samples.removeFirst(taken.count)
            return taken
        }
    }

    /// Notes a sample's state; one that is not at its end comes up again after the others.
    func note(_ id: NotificationID, _ seen: PushedState) {
        state.withLock { state in
            if seen.status.isFinal { state.dispatch.note(id, seen) } else { state.samples.append(id) }
        }
    }

    func putBack(_ id: NotificationID) { state.withLock { $0.samples.append(id) } }
}

extension Duration {
    /// Whole microseconds.
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}

/// What is known of the dispatch of a load test's notifications.
struct DispatchFigures: Sendable, Equatable {
    /// From acceptance to the hub's answer for the last platform, by the services' own clocks; a sample.
    var latency = HdrHistogram()
    private(set) var seen: Set<NotificationID> = []
    private(set) var firstCreated: Timestamp?
    private(set) var lastCreated: Timestamp?
    private(set) var lastSent: Timestamp?
    /// How many have ended how, all of them counted; `nil` before that was done.
    var statuses: [NotificationStatus: Int]?
    /// Accepted and not at their end, as far as counted.
    var pending: Int?

    /// Takes a sample that is at its end.
    mutating func note(_ id: NotificationID, _ state: PushedState) {
        guard seen.insert(id).inserted else { return }
        firstCreated = min(firstCreated ?? state.createdAt, state.createdAt)
        lastCreated = max(lastCreated ?? state.createdAt, state.createdAt)
        guard let sentAt = state.sentAt else { return }
        lastSent = max(lastSent ?? sentAt, sentAt)
        latency.record((sentAt - state.createdAt).microseconds)
    }

    /// From the first acceptance to the last answer of the hub.
    var duration: Duration? {
        guard let firstCreated, let lastSent else { return nil }
        return max(.zero, lastSent - firstCreated)
    }

    /// From the last acceptance to the last answer of the hub: the backlog that was left when sending ended.
    var drain: Duration? {
        guard let lastCreated, let lastSent else { return nil }
        return max(.zero, lastSent - lastCreated)
    }

    /// How many reached the end of dispatching.
    var ended: Int { statuses?.values.reduce(0, +) ?? 0 }

    var perSecond: Double? {
        guard ended > 0, let duration, duration > .zero else { return nil }
        return Double(ended) / duration.inSeconds
    }
}

/// What the simulated devices of a load test have seen.
struct ReadFigures: Sendable, Equatable {
    /// From acceptance to the payload on the device.
    var latency = HdrHistogram()
    /// How many payloads the devices should read: those accepted for their users.
    var expected = 0
    /// Pushes of notifications that had been read before.
    var repeated = 0
    var failures: [String: Int] = [:]

    var missing: Int { max(0, expected - latency.count - failures.values.reduce(0, +)) }
}
