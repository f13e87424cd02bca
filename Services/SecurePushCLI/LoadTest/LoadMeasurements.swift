import Domain
import Foundations
import Histogram
import Synchronization

/// The measurements of a load test so far, shared by all its tasks. They can be read at any time, so that an
/// interrupted test still has results.
///
/// Uses 16 bytes of memory for each accepted notification.
final class LoadMeasurements: Sendable {
    /// The number of notifications whose dispatch latency is measured.
    static let sampleSize = 2000
    /// Sending stops if every request has failed for this long.
    static let patience = Duration.seconds(10)

    struct State: Sendable {
        var pacer: LoadPacer
        var startedAt: Timestamp?
        var began: ContinuousClock.Instant?
        var ended: ContinuousClock.Instant?
        var lastAccepted: ContinuousClock.Instant?
        /// Notifications in the requests that were sent.
        var sent = 0
        /// Notifications that were in flight when a signal ended the test; `nil` without a signal.
        var inFlightAtStop: Int?
        var accepted = LatencyHistogram()
        /// The number of notifications that were not accepted, by reason.
        var failures: [String: Int] = [:]
        var ids: [NotificationID] = []
        /// Samples whose dispatch is not known to be complete.
        var samples: [NotificationID] = []
        var dispatch = DispatchFigures()
        var reads = ReadFigures()
        /// Sentences about figures that could not be measured.
        var problems: [String] = []
        var isGivenUp = false

        var failed: Int { failures.values.reduce(0, +) }
        /// Sent, and neither accepted nor failed.
        var inFlight: Int { max(0, sent - ids.count - failed) }
    }

    let plan: LoadPlan
    /// One notification in this many is a sample.
    let stride: Int
    private let state: Mutex<State>

    init(_ plan: LoadPlan) {
        self.plan = plan
        stride = (plan.count + LoadMeasurements.sampleSize - 1) / LoadMeasurements.sampleSize
        state = Mutex(State(pacer: LoadPacer(plan)))
    }

    /// A copy for the end of the test. Keeping it earlier would make the next record copy all IDs.
    var snapshot: State { state.withLock { $0 } }

    @discardableResult
    func update<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    var progress: LoadProgress { update { LoadProgress($0, plan: plan, stride: stride) } }

    // MARK: Sending

    func begin(at time: ContinuousClock.Instant) {
        state.withLock { state in
            state.startedAt = .now
            state.began = time
            state.lastAccepted = time
        }
    }

    /// Counts the notifications of a request that is about to be sent.
    ///
    /// - Returns: false if the test was interrupted, so that the request must not be sent.
    func startRequest(_ notifications: Int) -> Bool {
        state.withLock { state in
            guard state.inFlightAtStop == nil else { return false }
            state.sent += notifications
            return true
        }
    }

    /// Notes how many notifications are in flight. No request begins after this.
    func interrupt() {
        state.withLock { state in
            if state.inFlightAtStop == nil { state.inFlightAtStop = state.inFlight }
        }
    }

    /// The next request; `nil` if there are no more, or sending was stopped.
    func take() -> LoadPacer.Ticket? { state.withLock { $0.isGivenUp ? nil : $0.pacer.take() } }

    /// Records the result of a notification whose request was due at `start`.
    func record(_ notification: Int, _ result: PushResult, start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        state.withLock { state in
            switch result {
            case .accepted(let id):
                if state.ids.count.isMultiple(of: stride) { state.samples.append(id) }
                state.ids.append(id)
                state.accepted.record(now - start)
                state.lastAccepted = now
                if plan.isForDevice(notification) { state.reads.expected += 1 }
            case .failed(let reason):
                state.failures[reason, default: 0] += 1
                guard let last = state.lastAccepted, now - last > LoadMeasurements.patience, !state.isGivenUp else {
                    return
                }
                state.isGivenUp = true
                state.problems.append("Sending stopped because every request failed for 10 s.")
            }
        }
    }

    func endSending(at time: ContinuousClock.Instant) {
        state.withLock { state in
            state.ended = time
            // The last one shows when the backlog was empty.
            if let last = state.ids.max(), !state.samples.contains(last), !state.dispatch.seen.contains(last) {
                state.samples.append(last)
            }
        }
    }

    func note(problem: String) { state.withLock { $0.problems.append(problem) } }

    // MARK: Dispatch

    func takeSamples(_ count: Int) -> [NotificationID] {
        state.withLock { state in
            let taken = Array(state.samples.prefix(count))
            state.samples.removeFirst(taken.count)
            return taken
        }
    }

    /// Records the state of a sample. A sample that is not final goes to the end of the list.
    func note(_ id: NotificationID, _ pushed: PushedState) {
        state.withLock { state in
            if pushed.status.isFinal { state.dispatch.note(id, pushed) } else { state.samples.append(id) }
        }
    }

    func putBack(_ id: NotificationID) { state.withLock { $0.samples.append(id) } }
}

/// Latencies in microseconds: percentiles with three significant digits (Gil Tene's HdrHistogram); mean and maximum are
/// exact.
struct LatencyHistogram: Sendable, Equatable {
    private var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private var sum = 0.0

    var count: Int { Int(histogram.totalCount) }
    /// 0 without values, like ``maximum`` and ``percentile(_:)``.
    var mean: Double { count == 0 ? 0 : sum / Double(count) }
    var maximum: UInt64 { count == 0 ? 0 : histogram.maxRecorded }

    /// A negative duration counts as 0.
    mutating func record(_ duration: Duration) {
        let (seconds, attoseconds) = max(.zero, duration).components
        let value = UInt64(seconds) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000)
        histogram.record(value)
        sum += Double(value)
    }

    /// - Parameter percent: 0 to 100.
    func percentile(_ percent: Double) -> UInt64 { count == 0 ? 0 : histogram.valueAtPercentile(percent) }

    func milliseconds(_ percent: Double) -> Double { Double(percentile(percent)) / 1000 }
}

struct DispatchFigures: Sendable, Equatable {
    /// Of the samples: from acceptance to the hub's response for the last platform, by the services' clocks.
    var latency = LatencyHistogram()
    private(set) var seen: Set<NotificationID> = []
    private(set) var firstCreated: Timestamp?
    private(set) var lastCreated: Timestamp?
    private(set) var lastSent: Timestamp?
    /// The number of final notifications by status; `nil` if not counted yet.
    var statuses: [NotificationStatus: Int]?
    /// Accepted notifications that are not final.
    var pending: Int?

    /// Records a final sample.
    mutating func note(_ id: NotificationID, _ state: PushedState) {
        guard seen.insert(id).inserted else { return }
        firstCreated = min(firstCreated ?? state.createdAt, state.createdAt)
        lastCreated = max(lastCreated ?? state.createdAt, state.createdAt)
        guard let sentAt = state.sentAt else { return }
        lastSent = max(lastSent ?? sentAt, sentAt)
        latency.record(sentAt - state.createdAt)
    }

    /// From the first acceptance to the hub's last response.
    var duration: Duration? {
        guard let firstCreated, let lastSent else { return nil }
        return max(.zero, lastSent - firstCreated)
    }

    /// From the last acceptance to the hub's last response: the time to drain the backlog.
    var drain: Duration? {
        guard let lastCreated, let lastSent else { return nil }
        return max(.zero, lastSent - lastCreated)
    }

    /// The number of final notifications.
    var ended: Int { statuses?.values.reduce(0, +) ?? 0 }

    var perSecond: Double? {
        guard ended > 0, let duration, duration > .zero else { return nil }
        return Double(ended) / duration.inSeconds
    }
}

struct ReadFigures: Sendable, Equatable {
    /// From acceptance to the payload on the device.
    var latency = LatencyHistogram()
    /// Accepted notifications for the devices' users.
    var expected = 0
    /// Pushes of notifications whose push came before.
    private(set) var repeated = 0
    /// How often a push channel was opened, and how often one broke.
    private(set) var openedChannels = 0
    private(set) var lostChannels = 0
    private var pushed: Set<String> = []
    /// The reasons for which devices show a generic text now in place of a payload.
    private var noticed: [NotificationID: String] = [:]

    var missing: Int { max(0, expected - latency.count - noticed.count) }

    /// The number of notifications that were not read, by reason.
    var failures: [String: Int] {
        var counts = noticed.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        if lostChannels > 0 { counts["push channel lost"] = lostChannels }
        return counts
    }

    mutating func note(_ event: DeviceEvent) {
        switch event.event {
        case .listening: openedChannels += 1
        case .disconnected: lostChannels += 1
        case .received where event.kind != NativePush.withdrawal:
            if let id = event.id, !pushed.insert(id).inserted { repeated += 1 }
        default: break
        }
    }

    /// A device shows a payload. It replaces the generic text.
    ///
    /// - Parameter passed: the time since the notification was accepted, by the time in its ID.
    mutating func show(_ id: NotificationID, latency passed: Duration) {
        noticed[id] = nil
        latency.record(passed)
    }

    /// A device shows the generic text, for this reason.
    mutating func fail(_ id: NotificationID, _ reason: String) { noticed[id] = reason }
}
