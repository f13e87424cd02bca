import Domain
import Foundations
import HTTPTypes
import Logging
import Storage
import Synchronization

/// Delivers sends: pushes at once, and stores what is not over soon. The contract is K3: a send that is accepted cannot
/// be lost.
final class HubDelivery: Sendable {
    let lanes: PushLanes
    let tables: HubTables
    let settings: DeliverySettings
    let clock: DeliveryClock
    let courier: PushCourier
    /// The results of messages, for telemetry.
    let messages: MessageLog
    /// What happened to stored pushes.
    let ends: WriteQueue<HubPushEnd>
    /// Devices that push services no longer accept.
    let graves: WriteQueue<DeadDevice>
    /// The keys that the push services of devices accept.
    let keys: WriteQueue<HubPushKey>
    /// What simulated push services say of handles.
    let feedback: WriteQueue<HubFeedbackRow>
    /// The pushes that have not ended.
    let inFlight = PushesInFlight()
    private let deadlines: SendDeadlines
    /// Wakes ``RetryService``.
    let alarm: RetryAlarm
    private let problem = LastingProblemLog(
        "Pushes cannot be stored at the moment, and sends are refused", end: "Pushes are stored again")
    private let logger: Logger

    /// - Parameters:
    ///   - isVolatile: whether the tables are in memory.
    ///   - simulate: pushes to a simulated device.
    init(
        lanes: PushLanes, tables: HubTables, settings: DeliverySettings = .init(), clock: DeliveryClock = .system,
        isVolatile: Bool = false, logger: Logger, simulate: @escaping @Sendable (Push) -> Void
    ) {
        self.lanes = lanes
        self.tables = tables
        self.settings = settings
        self.clock = clock
        self.logger = logger
        deadlines = SendDeadlines(clock)
        messages = MessageLog(tables, isVolatile: isVolatile, logger: logger)
        let alarm = RetryAlarm()
        self.alarm = alarm
        ends = WriteQueue("Outcomes of pushes", logger: logger) { ends in
            try await tables.end(ends, now: clock.now())
            // Only now a look at the store finds them.
            for case .retry(let due, _) in ends.map(\.next) { alarm.ring(by: due) }
        }
        feedback = WriteQueue("Feedback", capacity: 10_000, logger: logger) { try await tables.note($0) }
        let graves = WriteQueue<DeadDevice>("Dead devices", capacity: 10_000, logger: logger) { devices in
            // Each is a transaction of its own, and one that was removed before is not found again.
            for device in devices {
                let count = try await tables.bury(device.feedback, ifUpdatedBefore: device.removedBefore)
                device.feedback.countRemoved(count)
            }
        }
        self.graves = graves
        // What is lost is learnt again with the next push.
        let keys = WriteQueue<HubPushKey>("Keys of devices", capacity: 10_000, logger: logger) {
            try await tables.remember($0)
        }
        self.keys = keys
        courier = PushCourier(
            lanes: lanes, settings: settings, clock: clock, simulate: simulate, bury: { graves.put([$0]) },
            remember: { keys.put([$0]) })
    }

    /// One send, or one page of its devices.
    struct Parcel: Sendable {
        var message: HubMessage
        var pushes: [Push]
        /// When the send stops waiting for the push services.
        var deadline: ContinuousClock.Instant
        /// Whether the caller tries again if nothing of the send could be pushed now. Otherwise all is stored.
        var mayRefuse = true
    }

    /// Pushes, and waits until each push is over or stored.
    ///
    /// - Returns: the outcome of each push, in their order; ``DeliveryOutcome/unknown`` for those that are stored.
    /// - Throws: 429 or 503 with `Retry-After`: nothing is stored, and the caller has to try again.
    func deliver(_ parcel: Parcel) async throws(HubError) -> (outcomes: [DeliveryOutcome], isStored: Bool) {
        if parcel.pushes.isEmpty { return ([], false) }
        let batch = PushBatch(count: parcel.pushes.count)
        if clock.instant() < parcel.deadline {
            for (index, push) in parcel.pushes.enumerated() { start(push, index, batch) }
            await batch.wait(until: parcel.deadline, deadlines)
        }
        let stages = batch.handOver()
        if parcel.mayRefuse, let refusal = refusal(stages) {
            batch.refuse()
            throw refusal
        }
        let outcomes = stages.map { stage -> DeliveryOutcome in
            if case .ended(.over(let outcome)) = stage { outcome } else { .unknown }
        }
        guard outcomes.contains(.unknown) else { return (outcomes, false) }
        try await store(stages, of: parcel, batch, outcomes)
        return (outcomes, true)
    }

    private func start(_ push: Push, _ index: Int, _ batch: PushBatch) {
        // A task of its own: it goes on when the send has been answered, or its client has gone away.
        inFlight.enter()
        Task {
            let verdict = await courier.deliver(push) { batch.begin(index) }
            if let late = batch.end(index, verdict) { end(late.row, verdict) }
            inFlight.leave()
        }
    }

    /// The answer if no push was accepted or refused for good, and each was throttled or could not reach its push
    /// service.
    private func refusal(_ stages: [PushBatch.Stage]) -> HubError? {
        var isThrottled = false
        var wait = Duration.zero
        for stage in stages {
            guard case .ended(.again(let again)) = stage, let cause = again.cause, cause != .credentials,
                !again.wasReached
            else { return nil }
            if cause == .throttled { isThrottled = true }
            wait = max(wait, again.after)
        }
        return isThrottled ? .pushServiceThrottles(after: wait) : .pushServiceUnreachable(after: wait)
    }

    private func store(
        _ stages: [PushBatch.Stage], of parcel: Parcel, _ batch: PushBatch, _ outcomes: [DeliveryOutcome]
    ) async throws(HubError) {
        var rows: [Int: HubPush] = [:]
        let now = clock.now()
        let claim = Int64.random(in: 1...Int64.max)
        do {
            for (index, stage) in stages.enumerated() {
                var push = parcel.pushes[index]
                switch stage {
                case .ended(.over): continue
                case .ended(.again(let again)):
                    if again.isTried { push.attempt += 1 }
                    rows[index] = try push.stored(dueAt: now + again.after, claim: nil, settings)
                case .queued: rows[index] = try push.stored(dueAt: now, claim: nil, settings)
                case .pushing:
                    // Until its answer comes, nobody else pushes it.
                    rows[index] = try push.stored(dueAt: now + settings.claim, claim: claim, settings)
                }
            }
            try await tables.keep(Array(rows.values), of: parcel.message.counting(parcel.pushes, outcomes))
        } catch {
            batch.refuse()
            problem.failed(ErrorText.describe(error), to: logger, metadata: ["count": "\(rows.count)"])
            throw .storeUnavailable
        }
        problem.succeeded(to: logger)
        for late in batch.stored(rows) { end(late.row, late.verdict) }
        if let first = rows.values.map(\.dueAt).min() { alarm.ring(by: first) }
    }

    /// A try of a stored push has ended.
    func end(_ row: HubPush, _ verdict: PushVerdict) {
        guard let claim = row.claim else { return }
        switch verdict {
        case .over(let outcome): ends.put([HubPushEnd(row, claim: claim, .outcome(outcome.rawValue))])
        case .again(let again):
            let due = min(clock.now() + again.after, row.giveUpAt)
            ends.put([HubPushEnd(row, claim: claim, .retry(at: due, attempt: row.attempt + (again.isTried ? 1 : 0)))])
        }
    }

    /// Waits until what is known of devices can be read as feedback, a second at most.
    func waitForFeedback() async {
        let wait = Task {
            await graves.waitUntilWritten()
            await feedback.waitUntilWritten()
        }
        await stop(wait, after: .seconds(1))
    }

    private func stop(_ wait: Task<Void, Never>, after time: Duration) async {
        let timer = Task { [clock] in
            try? await clock.sleep(time)
            wait.cancel()
        }
        await wait.value
        timer.cancel()
    }

    /// Waits for the pushes in flight, for a time at most, and writes what is left. What is not over then is pushed by
    /// another process, or after the next start.
    func finish(within time: Duration) async {
        await stop(Task { await inFlight.waitUntilNone() }, after: time)
        // It interrupts what is left, so that it is known to be tried again.
        await lanes.close(deadline: .now + .seconds(1))
        await stop(Task { await inFlight.waitUntilNone() }, after: .seconds(1))
        await ends.finish()
        await graves.finish()
        await keys.finish()
        await feedback.finish()
        await messages.finish()
    }
}

/// Counts pushes.
final class PushesInFlight: Sendable {
    private struct State: Sendable {
        var count = 0
        var waiters = WaitList<Void>()
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    func enter() { state.withLock { $0.count += 1 } }

    func leave() {
        let waiters = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.waiters.removeAll() : []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until there is none, or the task is cancelled.
    func waitUntilNone() async { try? await state.wait(in: \.waiters) { $0.count == 0 ? () : nil } }
}

extension HubMessage {
    /// With the outcomes of pushes.
    func counting(_ pushes: [Push], _ outcomes: [DeliveryOutcome]) -> HubMessage {
        adding(
            zip(pushes, outcomes).map { push, outcome in
                HubOutcome(platform: push.lane.platform, name: outcome.rawValue, count: 1)
            })
    }
}

extension HubError {
    static func pushServiceThrottles(after wait: Duration) -> HubError {
        HubError(
            .tooManyRequests, detail: "The push service throttles. Nothing of the send was kept.",
            retryAfterSeconds: seconds(wait))
    }

    static func pushServiceUnreachable(after wait: Duration) -> HubError {
        HubError(
            .serviceUnavailable, detail: "The push service cannot be reached. Nothing of the send was kept.",
            retryAfterSeconds: seconds(wait))
    }

    static let storeUnavailable = HubError(
        .serviceUnavailable, detail: "The hub cannot store the notification at the moment.", retryAfterSeconds: 5)

    /// Whole seconds, rounded up, at least 1 and at most an hour.
    private static func seconds(_ wait: Duration) -> Int {
        let (seconds, rest) = wait.components
        return Int(min(max(seconds + (rest > 0 ? 1 : 0), 1), 3600))
    }
}
