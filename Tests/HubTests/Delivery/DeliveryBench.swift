import Domain
import Foundations
import Logging
import PushServices
import StackKit
import Storage
import Synchronization
import Testing

@testable import Hub

/// A push service that answers as a test says, by the handle of the device.
final class ScriptedConnector: PushConnector {
    enum Step: Sendable {
        case answer(PushAnswer)
        /// The answer comes when the test gives it.
        case silence
    }

    private struct State: Sendable {
        var plans: [String: [Step]] = [:]
        var usual = Step.answer(.accepted)
        var requests: [PushRequest] = []
        var silent: [String: [CheckedContinuation<PushAnswer, Never>]] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// What it answers to one device, one after another; then as to all.
    func plan(_ handle: String, _ steps: Step...) { state.withLock { $0.plans[handle, default: []] += steps } }

    /// What it answers to all devices without a plan.
    func answerAll(_ step: Step) { state.withLock { $0.usual = step } }

    /// The handles of all pushes, in their order.
    var handles: [String] { state.withLock { $0.requests.map(\.address.text) } }
    var requests: [PushRequest] { state.withLock { $0.requests } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var silentCount: Int { state.withLock { $0.silent.values.reduce(0) { $0 + $1.count } } }

    /// Ends the silence at a device.
    func end(_ handle: String, _ answer: PushAnswer) {
        let waiting = state.withLock { $0.silent.removeValue(forKey: handle) ?? [] }
        for caller in waiting { caller.resume(returning: answer) }
    }

    func push(_ request: PushRequest, deadline: ContinuousClock.Instant) async -> PushResult {
        let handle = request.address.text
        let step = state.withLock { state -> Step in
            state.requests.append(request)
            guard var plan = state.plans[handle], !plan.isEmpty else { return state.usual }
            defer { state.plans[handle] = plan }
            return plan.removeFirst()
        }
        switch step {
        case .answer(let answer): return PushResult(answer, reason: "planned")
        case .silence:
            let answer = await withCheckedContinuation { caller in
                state.withLock { $0.silent[handle, default: []].append(caller) }
            }
            return PushResult(answer, reason: "planned")
        }
    }

    func checkCredentials(deadline: ContinuousClock.Instant) async -> CredentialCheck { .good }
    func close(deadline: ContinuousClock.Instant) async { state.withLock { $0.isClosed = true } }
}

extension PushAddress {
    var text: String {
        switch self {
        case .handle(let text): text
        case .subscription(let endpoint, _, _): endpoint
        }
    }
}

/// Clocks that stand still until a test moves them.
final class StandingClock: Sendable {
    private struct State: Sendable {
        var time = Duration.zero
        var sleepers: [Int: (until: Duration, caller: CheckedContinuation<Void, Never>)] = [:]
        var lastSleeper = 0
    }

    static let start = Timestamp(milliseconds: 1_790_000_000_000)
    private let begin = ContinuousClock.now
    private let state = Mutex(State())

    var clock: DeliveryClock {
        DeliveryClock(
            now: { Self.start + self.state.withLock { $0.time } },
            instant: { self.begin + self.state.withLock { $0.time } }, sleep: { await self.sleep($0) })
    }

    /// How many sleep.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func advance(by time: Duration) {
        let awake = state.withLock { state in
            state.time += time
            let now = state.time
            let awake = state.sleepers.filter { $0.value.until <= now }
            for key in awake.keys { state.sleepers[key] = nil }
            return awake.values.map(\.caller)
        }
        for caller in awake { caller.resume() }
    }

    private func sleep(_ time: Duration) async {
        let number = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (caller: CheckedContinuation<Void, Never>) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || time <= .zero { return true }
                    state.sleepers[number] = (state.time + time, caller)
                    return false
                }
                if isOver { caller.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.caller.resume()
        }
    }
}

/// A delivery to scripted push services, on tables of its own or of another bench.
struct DeliveryBench: Sendable {
    static let hub = "hub"

    let clock: StandingClock
    let connector: ScriptedConnector
    let delivery: HubDelivery
    let retries: RetryService
    var tables: HubTables { delivery.tables }

    init(
        _ tables: HubTables, clock: StandingClock = StandingClock(), connector: ScriptedConnector = ScriptedConnector(),
        settings: DeliverySettings = .init(), tracer: SpanTracer? = nil
    ) {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        self.clock = clock
        self.connector = connector
        delivery = HubDelivery(
            lanes: PushLanes(
                Self.pushers(connector), settings: settings, clock: clock.clock, logger: logger), tables: tables,
            settings: settings, clock: clock.clock, tracer: tracer, logger: logger
        ) { _ in }
        retries = RetryService(delivery, logger: logger)
    }

    static func pushers(_ connector: ScriptedConnector, version: Int = 1) -> PlatformPushers {
        var pushers = PlatformPushers()
        for platform in [NotificationFormat.apple, .fcmv1, .windows, .browser] {
            pushers[hub, platform] = .connector(connector, version: version)
        }
        return pushers
    }

    func push(
        _ handle: String, _ platform: NotificationFormat = .apple, message: String = "m",
        expiresAt: Timestamp? = nil, registration: String? = "r"
    ) -> Push {
        let address: PushAddress =
            platform == .browser ? .subscription(endpoint: handle, p256dh: "p", auth: "a") : .handle(handle)
        return Push(
            lane: HubLaneKey(hub: Self.hub, platform: platform.rawValue), messageID: message,
            request: PushRequest(
                address: address, body: [1, 2, 3], headers: ["apns-priority": "10"], expiresAt: expiresAt),
            handle: handle, registrationID: registration, sentAt: clock.clock.now())
    }

    /// Sends, and lets telemetry know.
    @discardableResult
    func send(_ pushes: Push..., mayRefuse: Bool = true) async throws -> [DeliveryOutcome] {
        try await send(pushes, mayRefuse: mayRefuse)
    }

    func send(_ pushes: [Push], mayRefuse: Bool = true) async throws -> [DeliveryOutcome] {
        let message = HubMessage(
            id: pushes.first?.messageID ?? "m", hub: Self.hub, state: HubMessage.completed,
            enqueuedAt: clock.clock.now(), completedAt: clock.clock.now(), body: [],
            purgeAt: clock.clock.now() + .seconds(86_400))
        let parcel = HubDelivery.Parcel(
            message: message, pushes: pushes, deadline: clock.clock.instant() + delivery.settings.acceptTimeout,
            mayRefuse: mayRefuse)
        switch try await delivery.deliver(parcel) {
        case .refused(let held): throw held.refusal
        case .done(let outcomes, let isStored):
            if !isStored { delivery.messages.put(message.counting(pushes, outcomes)) }
            return outcomes
        }
    }

    /// Pushes what is due, and waits until that is written.
    func sweep(after time: Duration = .zero) async throws {
        if time > .zero { clock.advance(by: time) }
        _ = await retries.sweep()
        await delivery.inFlight.waitUntilNone()
        await delivery.ends.waitUntilWritten()
        await delivery.graves.waitUntilWritten()
    }

    /// The number of stored pushes of a platform.
    func stored(_ platform: NotificationFormat = .apple) async throws -> Int {
        try await tables.waitingPushes(of: HubLaneKey(hub: Self.hub, platform: platform.rawValue))
    }

    /// The outcomes of a message by name, over all platforms.
    func outcomes(_ message: String = "m") async throws -> [String: Int] {
        let found = try await delivery.messages.message(message, hub: Self.hub)
        return Dictionary((found?.outcomes ?? []).map { ($0.name, $0.count) }, uniquingKeysWith: +)
    }

    var report: LaneReport? { delivery.lanes.reports.first }
}

/// Runs a test with a delivery on tables in memory.
func withDelivery(
    settings: DeliverySettings = .init(), _ test: @Sendable (DeliveryBench) async throws -> Void
) async throws {
    try await withTables { store in try await test(DeliveryBench(store.tables, settings: settings)) }
}
