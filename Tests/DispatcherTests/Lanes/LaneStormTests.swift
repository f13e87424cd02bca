import Domain
import Foundations
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// Minutes of trouble at the hub, in virtual time.
@Suite struct LaneStormTests {
    static let platforms: [Platform] = [.apple, .fcmv1, .windows]
    let bench = DispatchBench()
    let clock = VirtualClock()

    /// What the hub saw of one platform.
    struct Seen: Sendable {
        var requests = 0
        var refused = 0
        var firstSent: Duration?
        var lastSent: Duration?
    }

    /// What the hub saw of all.
    final class HubView: Sendable {
        private let platforms = Mutex<[Platform: Seen]>([:])

        func withLock<Result: Sendable>(_ body: (inout [Platform: Seen]) -> Result) -> Result {
            platforms.withLock { body(&$0) }
        }
    }

    let seen = HubView()

    /// The hub's answer, noted with the time.
    private func note(_ platform: Platform, _ outcome: SendOutcome, at time: Duration) -> SendOutcome {
        seen.withLock { seen in
            var entry = seen[platform] ?? Seen()
            entry.requests += 1
            if case .sent = outcome {
                entry.firstSent = entry.firstSent ?? time
                entry.lastSent = time
            } else {
                entry.refused += 1
            }
            seen[platform] = entry
        }
        return outcome
    }

    /// Runs `count` notifications through a hub that answers `trouble` on some platforms for a time.
    private func run(
        _ count: Int, _ trouble: SendOutcome, on troubled: Set<Platform>, for storm: Duration,
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    ) async throws -> (ids: [NotificationID], broker: TimedBroker) {
        let delays = RetryDelays.standard
        let broker = TimedBroker(delays: delays, prefetch: 1024, virtual: clock)
        let gateway = FunctionGateway { notification in
            let time = clock.elapsed
            let isTroubled = time < storm && troubled.contains(notification.platform)
            return note(notification.platform, isTroubled ? trouble : .sent(hubMessageID: nil), at: time)
        }
        var ids: [NotificationID] = []
        for _ in 0..<count { ids.append(try await bench.stored { $0.expiresAt = .now + .seconds(7200) }) }
        broker.deliver(ids.map { DispatchMessage(id: $0) })
        try await bench.with {
            $0.policy = DispatchPolicy(platforms: Self.platforms, maxAttempts: 3, retryDelays: delays)
            $0.lanes = LaneSettings(
                platforms: Self.platforms, hub: "hubb", endpoint: "https://ns.example.com", clock: clock.laneClock)
            $0.logger = logger
        }.pipeline(gateway, over: broker).run()
        return (ids, broker)
    }

    private func expectSentAtOneAttempt(_ ids: [NotificationID]) async throws {
        for id in ids {
            let deliveries = try await bench.deliveries(id)
            #expect(deliveries.values.map(\.state) == [.sent, .sent, .sent])
            #expect(deliveries.values.map(\.attempts) == [1, 1, 1])
        }
    }

    @Test func `Ten minutes of throttling use up no attempt`() async throws {
        let storm = Duration.seconds(600)
        let (ids, broker) = try await run(
            200, .throttled(retryAfter: .seconds(5)), on: Set(Self.platforms), for: storm)
        #expect(broker.record.dead.isEmpty)
        try await expectSentAtOneAttempt(ids)
        for (_, seen) in seen.withLock({ $0 }) {
            // One opens the circuit; then a probe every five seconds at most.
            #expect(seen.refused <= 121 && seen.refused >= 20)
            #expect(try #require(seen.lastSent) < storm + .seconds(40))
        }
        // The deliveries stay with the broker while nothing can be sent.
        #expect(broker.record.published < 200 * 600 / 5)
    }

    @Test func `Throttling without Retry-After is probed too`() async throws {
        let storm = Duration.seconds(60)
        let (ids, broker) = try await run(100, .throttled(retryAfter: nil), on: Set(Self.platforms), for: storm)
        #expect(broker.record.dead.isEmpty)
        try await expectSentAtOneAttempt(ids)
        for (_, seen) in seen.withLock({ $0 }) {
            #expect(seen.refused <= LaneCircuit.maxFailures + 10)
            #expect(try #require(seen.lastSent) < storm + .seconds(40))
        }
    }

    @Test func `A storm on one lane leaves the others alone`() async throws {
        let storm = Duration.seconds(600)
        let (ids, broker) = try await run(
            200, .throttled(retryAfter: .seconds(5)), on: [.windows], for: storm)
        #expect(broker.record.dead.isEmpty)
        try await expectSentAtOneAttempt(ids)
        let seen = seen.withLock { $0 }
        #expect(seen[.apple]?.lastSent == .zero && seen[.fcmv1]?.lastSent == .zero)
        #expect(seen[.apple]?.requests == 200 && seen[.fcmv1]?.requests == 200)
        #expect(try #require(seen[.windows]?.lastSent) < storm + .seconds(40))
        #expect(try #require(seen[.windows]?.refused) <= 121)
    }

    @Test func `Wrong credentials hold the lanes until they are right`() async throws {
        let storm = Duration.seconds(60)
        let log = LogBook()
        let (ids, broker) = try await run(
            100, .unauthorized(reason: "HTTP 401"), on: Set(Self.platforms), for: storm, logger: log.logger)
        #expect(broker.record.dead.isEmpty)
        try await expectSentAtOneAttempt(ids)
        for (_, seen) in seen.withLock({ $0 }) {
            #expect(try #require(seen.firstSent) < storm + .seconds(10))
            #expect(try #require(seen.lastSent) < storm + .seconds(40))
            // Two that find out, and a probe every five seconds.
            #expect(seen.refused <= 14)
        }
        // One at the change, and one more for a lane that is still held after a minute.
        let errors = log.lines.count { $0.level == .error }
        #expect(errors >= Self.platforms.count && errors <= 2 * Self.platforms.count)
        #expect(log.lines.filter { $0.level == .info }.count == Self.platforms.count)
    }

    /// One wrong letter in `HUB_NAME`: every send is answered with 404.
    @Test func `A wrong hub name holds the lanes and says which`() async throws {
        let storm = Duration.seconds(60)
        let log = LogBook()
        let (ids, broker) = try await run(
            100, .hubNotFound(reason: "HTTP 404"), on: Set(Self.platforms), for: storm, logger: log.logger)
        #expect(broker.record.dead.isEmpty)
        try await expectSentAtOneAttempt(ids)
        for (_, seen) in seen.withLock({ $0 }) { #expect(seen.refused <= 14) }
        let errors = log.lines.filter { $0.level == .error }
        #expect(errors.count >= Self.platforms.count && errors.count <= 2 * Self.platforms.count)
        for line in errors {
            #expect(line.metadata["HUB_NAME"] == "hubb" && line.metadata["endpoint"] == "https://ns.example.com")
            #expect(line.message.contains("HUB_NAME"))
        }
        #expect(log.lines.filter { $0.level == .info }.count == Self.platforms.count)
    }

    /// A hub that cannot be reached for ten minutes, with `DISPATCH_MAX_ATTEMPTS` of 3.
    @Test func `Ten minutes without a connection use up no attempt`() async throws {
        let (ids, broker) = try await run(
            200, .notSent(reason: "no connection to the hub"), on: Set(Self.platforms), for: .seconds(600))
        #expect(broker.record.dead.isEmpty)
        try await expectSentAtOneAttempt(ids)
        // Ten sends open a circuit; then there is a probe at most every fifteen seconds, and some before that.
        for (_, seen) in seen.withLock({ $0 }) { #expect(seen.refused <= 60) }
    }

    @Test func `A token that is made anew is no fault`() async throws {
        let log = LogBook()
        let isFirst = Mutex(Set<Platform>())
        let broker = TimedBroker(delays: .standard, prefetch: 1024, virtual: clock)
        let gateway = FunctionGateway { notification in
            let isNew = isFirst.withLock { $0.insert(notification.platform).inserted }
            return isNew ? .unauthorized(reason: "HTTP 401") : .sent(hubMessageID: nil)
        }
        let ids = [try await bench.stored(), try await bench.stored()]
        broker.deliver(ids.map { DispatchMessage(id: $0) })
        try await bench.with {
            $0.policy = DispatchPolicy(platforms: Self.platforms, maxAttempts: 1)
            $0.lanes = LaneSettings(platforms: Self.platforms, clock: clock.laneClock)
            $0.logger = log.logger
        }.pipeline(gateway, over: broker).run()
        try await expectSentAtOneAttempt(ids)
        #expect(clock.elapsed < .seconds(5))
        #expect(!log.lines.contains { $0.level == .error })
    }
}
