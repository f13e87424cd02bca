import Domain
import Foundations
import HTTPTypes
import Logging
import ServiceRuntime
import Storage
import Synchronization
import Tracing

/// Delivers sends: pushes at once, and stores the pushes that do not end soon. The contract is K3: an accepted send
/// cannot be lost.
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
    let graves: WriteQueue<DeviceRemoval>
    /// The keys that the push services of devices accept.
    let keys: WriteQueue<HubPushKey>
    /// What simulated push services say of handles.
    let feedback: WriteQueue<HubFeedbackRow>
    /// The pushes that have not ended.
    let inFlight = PushesInFlight()
    /// The stored pushes that sends have in flight. Until their outcomes are written, this process does not push them
    /// again, even if their claims end.
    private let underWay = Mutex<Set<NotificationID>>([])
    private let deadlines: SendDeadlines
    /// Wakes ``RetryService``.
    let alarm: DueAlarm
    /// Makes the spans of pushes; `nil` if nothing is traced.
    let tracer: (any Tracer)?
    private let problem = LastingProblemLog(
        "Pushes cannot be stored at the moment, and sends are refused", end: "Pushes are stored again")
    private let logger: Logger

    /// - Parameters:
    ///   - isVolatile: whether the tables are in memory.
    ///   - tracer: makes the spans of pushes; `nil` for none.
    ///   - simulate: pushes to a simulated device.
    init(
        lanes: PushLanes, tables: HubTables, settings: DeliverySettings = .init(), clock: DeliveryClock = .system,
        isVolatile: Bool = false, tracer: (any Tracer)? = nil, logger: Logger,
        simulate: @escaping @Sendable (Push) -> Void
    ) {
        self.lanes = lanes
        self.tables = tables
        self.settings = settings
        self.clock = clock
        self.logger = logger
        deadlines = SendDeadlines(clock)
        self.tracer = tracer
        messages = MessageLog(tables, isVolatile: isVolatile, logger: logger)
        let alarm = DueAlarm()
        self.alarm = alarm
        ends = WriteQueue("Outcomes of pushes", logger: logger) { ends in
            try await tables.end(ends, now: clock.now())
            // Only now a look at the store finds them.
            for case .retry(let due, _) in ends.map(\.next) { alarm.ring(by: due) }
        }
        feedback = WriteQueue("Feedback", capacity: 10_000, logger: logger) { try await tables.note($0) }
        let removals = DeviceRemovals(lanes: lanes, tables: tables, clock: clock)
        let graves = WriteQueue<DeviceRemoval>("Dead devices", capacity: 10_000, logger: logger) {
            try await removals.write($0)
        }
        self.graves = graves
        // A lost entry is added again with the next push.
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

    /// The result of a parcel.
    enum Receipt: Sendable {
        /// Each push has ended or is stored. The outcomes are in the order of the pushes; ``DeliveryOutcome/unknown``
        /// for those that are stored.
        case done([DeliveryOutcome], isStored: Bool)
        /// No push was accepted or refused for good, and each was throttled or could not reach its push service.
        /// Nothing is stored.
        case refused(HeldPushes)
    }

    /// Pushes, and waits until each push has ended or is stored.
    ///
    /// - Throws: 503 if pushes that have not ended could not be stored.
    func deliver(_ parcel: Parcel) async throws(HubError) -> Receipt {
        if parcel.pushes.isEmpty { return .done([], isStored: false) }
        let batch = PushBatch(count: parcel.pushes.count)
        var spans = PushSpan.all(tracer, parcel.pushes)
        if clock.instant() < parcel.deadline {
            // Many pushes are many encryptions: these go to all cores.
            let executor = parcel.pushes.count == 1 ? EventLoopTaskExecutor.current : nil
            for (index, push) in parcel.pushes.enumerated() { start(push, index, batch, on: executor) }
            await batch.wait(until: parcel.deadline, deadlines)
        }
        let stages = batch.handOver()
        if !spans.isEmpty {
            for (push, stage) in zip(parcel.pushes, stages) { spans[push.lane]?.note(stage.verdict) }
            for span in spans.values { span.end() }
        }
        if parcel.mayRefuse, let held = HeldPushes(parcel.pushes, stages, now: clock.now()) {
            batch.refuse()
            return .refused(held)
        }
        let outcomes = stages.map { stage -> DeliveryOutcome in
            if case .ended(.over(let outcome)) = stage { outcome } else { .unknown }
        }
        guard outcomes.contains(.unknown) else { return .done(outcomes, isStored: false) }
        try await store(stages, of: parcel, batch, outcomes)
        return .done(outcomes, isStored: true)
    }

    private func start(_ push: Push, _ index: Int, _ batch: PushBatch, on executor: EventLoopTaskExecutor?) {
        // An unstructured task: it continues after the send was answered or its client has disconnected.
        inFlight.enter()
        let begin = tracer.map { _ in DefaultTracerClock.now }
        Task(executorPreference: executor) { [self] in
            let verdict = await courier.deliver(push) { batch.begin(index) }
            if let late = batch.end(index, verdict) {
                end(late)
                // In the span of the page it was in flight.
                if let tracer, let begin { PushSpan(tracer, push, at: begin)?.end(verdict) }
            }
            inFlight.leave()
        }
    }

    private func store(
        _ stages: [PushBatch.Stage], of parcel: Parcel, _ batch: PushBatch, _ outcomes: [DeliveryOutcome]
    ) async throws(HubError) {
        var rows: [Int: HubPush] = [:]
        let now = clock.now()
        let claim = Int64.random(in: 1...Int64.max)
        do {
            for (index, stage) in stages.enumerated() {
                let push = parcel.pushes[index]
                switch stage {
                case .ended(.over): continue
                case .ended(.again(let again)):
                    rows[index] = try push.tried(again).stored(dueAt: now + again.after, claim: nil, settings)
                case .queued: rows[index] = try push.stored(dueAt: now, claim: nil, settings)
                case .pushing:
                    // Until its answer comes, nobody else pushes it.
                    rows[index] = try push.stored(dueAt: now + settings.claim, claim: claim, settings)
                }
            }
        } catch {
            batch.refuse()
            throw refusal(error, of: parcel.pushes.count)
        }
        let claimed = Set(rows.values.filter { $0.claim != nil }.map(\.id))
        underWay.withLock { $0.formUnion(claimed) }
        do throws(HubError) {
            try await store(Array(rows.values), of: parcel.message.counting(parcel.pushes, outcomes))
        } catch {
            batch.refuse()
            underWay.withLock { $0.subtract(claimed) }
            throw error
        }
        for late in batch.stored(rows) { end(late) }
    }

    /// Whether a send has a stored push under way, or its outcome is not written yet.
    func isUnderWay(_ id: NotificationID) -> Bool { underWay.withLock { $0.contains(id) } }

    /// Takes the answer to a push that its send has stored.
    private func end(_ late: PushBatch.Late) {
        end(late.row, late.verdict)
        Task {
            await ends.waitUntilWritten()
            _ = underWay.withLock { $0.remove(late.row.id) }
        }
    }

    /// Stores pushes that were held.
    ///
    /// - Throws: 503 if they could not be stored.
    func store(_ held: HeldPushes, of message: HubMessage) async throws(HubError) {
        let rows: [HubPush]
        do {
            rows = try zip(held.pushes, held.dueTimes).map { try $0.stored(dueAt: $1, claim: nil, settings) }
        } catch {
            throw refusal(error, of: held.pushes.count)
        }
        let unknown = held.pushes.map { _ in DeliveryOutcome.unknown }
        try await store(rows, of: message.counting(held.pushes, unknown))
    }

    private func store(_ rows: [HubPush], of message: HubMessage) async throws(HubError) {
        do { try await tables.keep(rows, of: message) } catch { throw refusal(error, of: rows.count) }
        problem.succeeded(to: logger)
        if let first = rows.map(\.dueAt).min() { alarm.ring(by: first) }
    }

    private func refusal(_ error: any Error, of count: Int) -> HubError {
        problem.failed(ErrorText.describe(error), to: logger, metadata: ["count": "\(count)"])
        return .storeUnavailable
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

    /// Waits until the results for devices can be read as feedback, a second at most.
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

    /// Waits for the pushes in flight, for a time at most, and writes the results. Another process pushes the rest, or
    /// this one after its next start.
    func finish(within time: Duration) async {
        await stop(Task { await inFlight.waitUntilNone() }, after: time)
        // This interrupts the remaining pushes, so that they are marked for a retry.
        await lanes.close(deadline: .now + .seconds(1))
        await stop(Task { await inFlight.waitUntilNone() }, after: .seconds(1))
        // Concurrently: each has only a few seconds if the database is unavailable.
        async let ended: Void = ends.finish()
        async let buried: Void = graves.finish()
        async let known: Void = keys.finish()
        async let noted: Void = feedback.finish()
        async let told: Void = messages.finish()
        _ = await (ended, buried, known, noted, told)
    }
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
