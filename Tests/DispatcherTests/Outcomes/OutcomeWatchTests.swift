import Logging
import SecurePushCore
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// What a dispatcher asks the hub, and when, at times that the test says.
@Suite(.timeLimit(.minutes(2))) struct OutcomeWatchTests {
    /// A hub that answers by message ID; unknown ones have no outcome.
    private final class FakeTelemetry: HubTelemetry {
        private let state = Mutex(State())

        private struct State {
            var answers: [String: Result<MessageOutcome?, PushGatewayError>] = [:]
            var asked: [String] = []
            var others: Result<MessageOutcome?, PushGatewayError> = .success(nil)
        }

        /// The messages in the order of their questions since the last call.
        func takeAsked() -> [String] {
            state.withLock { state in
                defer { state.asked = [] }
                return state.asked.sorted()
            }
        }

        func tell(_ message: String, _ devices: [String: Int]) {
            state.withLock { $0.answers[message] = .success(MessageOutcome(devices)) }
        }

        func fail(_ message: String, _ error: PushGatewayError) {
            state.withLock { $0.answers[message] = .failure(error) }
        }

        /// The answer for all other messages.
        func tellOthers(_ answer: Result<MessageOutcome?, PushGatewayError>) {
            state.withLock { $0.others = answer }
        }

        func outcome(ofMessage id: String, to recipient: UserName) async throws -> MessageOutcome? {
            try state.withLock { state in
                state.asked.append(id)
                return state.answers[id] ?? state.others
            }.get()
        }
    }

    private static let noon = Timestamp(milliseconds: 1_795_262_400_123)
    private let store = MemoryStore()
    private let hub = FakeTelemetry()
    private let watch: OutcomeWatch

    init() { watch = Self.watch(store, hub) }

    private static func watch(_ store: MemoryStore, _ hub: FakeTelemetry) -> OutcomeWatch {
        OutcomeWatch(store: store, hub: hub, logger: Logger(label: "test"))
    }

    private func at(_ seconds: Int) -> Timestamp { Self.noon + .seconds(seconds) }

    /// Stores a notification of a time, pushed at another one with these message IDs, by platform.
    private func push(
        _ messages: [Platform: String?], at seconds: Int = 0, pushedAt: Int? = nil, notBefore: Int? = nil
    ) async throws -> NotificationID {
        let notification = Notification(
            id: NotificationID(at: at(seconds)), sender: "test", recipient: try #require(UserName("alice")),
            createdAt: at(seconds), expiresAt: at(seconds) + .seconds(1_000_000), notBefore: notBefore.map(at))
        try await store.append([
            SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
        ])
        try await settle(notification.id, messages, at: pushedAt ?? seconds)
        return notification.id
    }

    /// One attempt: each platform is sent, or dead without a message ID.
    private func settle(_ id: NotificationID, _ messages: [Platform: String?], at seconds: Int) async throws {
        let attempt = try #require(try await store.claim([id], first: [], now: at(seconds))[id]?.attempt)
        let deliveries = messages.sorted { $0.key.rawValue < $1.key.rawValue }.map { platform, message in
            Delivery(
                platform: platform, state: message == nil ? .dead : .sent, attempts: 1, hubMessageID: message,
                updatedAt: at(seconds))
        }
        try await store.record([DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)])
    }

    private func outcomes(_ id: NotificationID) async throws -> [String?] {
        try await store.record(id, sender: "test")?.deliveries.map(\.outcome) ?? []
    }

    @Test func theOutcomesAreStored() async throws {
        let id = try await push([.apple: "a", .windows: "w", .fcmv1: "f"])
        hub.tell("a", ["Success": 2, "BadChannel": 1])
        hub.tell("f", ["Dropped": 1])
        _ = await watch.sweep(now: at(14))
        #expect(hub.takeAsked() == [])
        _ = await watch.sweep(now: at(16))
        #expect(hub.takeAsked() == ["a", "f", "w"])
        #expect(try await outcomes(id) == ["Success=2, BadChannel=1", "Dropped", nil])
        #expect(await store.status(of: id) == .dispatched)
    }

    /// The pauses grow, and end.
    @Test func aMessageWithoutAnOutcomeIsAskedForLess() async throws {
        let id = try await push([.apple: "a"])
        var asked: [Int] = []
        for second in stride(from: 5, through: 20_000, by: 5) {
            _ = await watch.sweep(now: at(second))
            if !hub.takeAsked().isEmpty { asked.append(second) }
        }
        #expect(asked == [20, 65, 305, 1805, 7205])
        #expect(try await outcomes(id) == [nil])
    }

    @Test func aScheduledNotificationIsAskedForAfterItsTime() async throws {
        let day = 86_400
        let id = try await push([.apple: "a"], pushedAt: day + 1, notBefore: day)
        hub.tell("a", ["Success": 1])
        for second in [day, day + 14, day + 17] { _ = await watch.sweep(now: at(second)) }
        #expect(hub.takeAsked() == ["a"])
        #expect(try await outcomes(id) == ["Success"])
    }

    /// A push that had to wait for the hub is asked for in a later pass, and never within 10 s.
    @Test func aLatePushIsAskedForLater() async throws {
        let id = try await push([.apple: "a"], pushedAt: 55)
        hub.tell("a", ["Success": 1])
        _ = await watch.sweep(now: at(61))
        #expect(hub.takeAsked() == [])
        _ = await watch.sweep(now: at(301))
        #expect(try await outcomes(id) == ["Success"])
    }

    @Test func aNewAttemptIsAskedForByItsOwnMessage() async throws {
        let id = try await push([.apple: "a", .windows: String?.none])
        hub.tell("a", ["Success": 1])
        hub.tell("w", ["BadChannel": 1])
        _ = await watch.sweep(now: at(16))
        #expect(try await outcomes(id) == ["Success", nil])
        #expect(try await store.resend(id, sender: "test", now: at(20)) == .owed([.windows]))
        // The dispatcher carries over what is on record.
        let plan = try #require(try await store.claim([id], first: [], now: at(21))[id])
        var deliveries = plan.deliveries
        let previous = deliveries.remove(at: 1)
        let policy = DispatchPolicy(platforms: [.apple, .windows])
        deliveries.append(
            policy.delivery(of: .windows, after: .sent(hubMessageID: "w"), previous: previous, now: at(21)))
        try await store.record([DispatchOutcome(id: id, attempt: plan.attempt, deliveries: deliveries)])
        #expect(hub.takeAsked() == ["a"])
        _ = await watch.sweep(now: at(61))
        #expect(hub.takeAsked() == ["w"])
        #expect(try await outcomes(id) == ["Success", "BadChannel"])
    }

    /// A message that is sent once more has another ID: the earlier outcome does not belong to it.
    @Test func anotherMessageHasNoOutcomeYet() {
        let sent = Delivery(
            platform: .apple, state: .retrying, attempts: 1, hubMessageID: "a", updatedAt: Self.noon, outcome: "Dropped"
        )
        let again = DispatchPolicy(platforms: [.apple]).delivery(
            of: .apple, after: .sent(hubMessageID: "b"), previous: sent, now: Self.noon)
        #expect(again.hubMessageID == "b" && again.outcome == nil)
    }

    @Test func oneOfTwoDispatchersAsks() async throws {
        _ = try await push([.apple: "a"])
        let other = Self.watch(store, hub)
        _ = await watch.sweep(now: at(16))
        #expect(hub.takeAsked() == ["a"])
        #expect(await other.sweep(now: at(17)) == .seconds(15))
        _ = try await push([.apple: "b"], at: 20)
        #expect(await other.sweep(now: at(40)) == .seconds(15))
        #expect(hub.takeAsked() == [])
    }

    /// The process dies; another one goes on at the stored place once the lease has ended.
    @Test func anotherDispatcherGoesOn() async throws {
        _ = try await push([.apple: "a"])
        _ = try await push([.apple: "b"], at: 10)
        for message in ["a", "b"] { hub.tell(message, ["Success": 1]) }
        _ = await watch.sweep(now: at(20))
        #expect(hub.takeAsked() == ["a"])
        let other = Self.watch(store, hub)
        #expect(await other.sweep(now: at(80)) == .seconds(15))
        _ = await other.sweep(now: at(100))
        #expect(hub.takeAsked() == ["b"])
    }

    @Test func whoStopsGivesTheLeaseBack() async throws {
        let group = ServiceGroup(services: [watch], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let isHeld = try await eventually {
                try await store.leaseOutcomes(holder: 1, now: .now, until: .now) == nil
            }
            #expect(isHeld)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(try await store.leaseOutcomes(holder: 1, now: .now, until: .now) != nil)
    }

    @Test(arguments: [
        PushGatewayError(.unauthorized, "HTTP 403"), PushGatewayError(.rejected, "HTTP 405"),
    ]) func aTierWithoutTelemetryIsLeftAlone(_ error: PushGatewayError) async throws {
        let lines = LogBook()
        let watch = OutcomeWatch(store: store, hub: hub, logger: lines.logger)
        let ids = [try await push([.apple: "a"]), try await push([.apple: "b"], at: 1)]
        hub.tellOthers(.failure(error))
        #expect(await watch.sweep(now: at(20)) == .seconds(60))
        #expect(await watch.sweep(now: at(81)) == .seconds(1800))
        #expect(await watch.sweep(now: at(1881)) == .seconds(1800))
        #expect(lines.lines.map(\.level) == [.warning])
        for id in ids { #expect(try await outcomes(id) == [nil]) }
        for id in ids { #expect(await store.status(of: id) == .dispatched) }
        // Once it works, the pass goes on where it was.
        hub.tellOthers(.success(MessageOutcome(["Success": 1])))
        _ = await watch.sweep(now: at(1900))
        for id in ids { #expect(try await outcomes(id) == ["Success"]) }
    }

    @Test(
        arguments: [
            (nil, Duration.seconds(30)), (.seconds(7), .seconds(7)), (.seconds(100_000), .seconds(600)),
            (.zero, .seconds(1)),
        ] as [(Duration?, Duration)]) func theHubsPauseIsKept(_ asked: Duration?, _ pause: Duration) async throws
    {
        let first = try await push([.apple: "a"])
        let second = try await push([.apple: "b"], at: 1)
        hub.tell("a", ["Success": 1])
        hub.fail("b", PushGatewayError(.throttled, "HTTP 429", retryAfter: asked))
        #expect(await watch.sweep(now: at(20)) == pause)
        #expect(try await outcomes(first) == ["Success"])
        hub.tell("b", ["Success": 1])
        _ = hub.takeAsked()
        _ = await watch.sweep(now: at(55))
        #expect(hub.takeAsked() == ["b"])
        #expect(try await outcomes(second) == ["Success"])
    }

    /// One message that the hub cannot tell of keeps nothing else waiting.
    @Test func aFailureConcernsItsMessage() async throws {
        let first = try await push([.apple: "a"])
        let second = try await push([.apple: "b"], at: 1)
        hub.fail("a", PushGatewayError(.unavailable, "HTTP 500"))
        hub.tell("b", ["Success": 1])
        _ = await watch.sweep(now: at(20))
        #expect(try await outcomes(second) == ["Success"])
        hub.tell("a", ["Success": 1])
        _ = await watch.sweep(now: at(65))
        #expect(try await outcomes(first) == ["Success"])
    }

    @Test func aHubThatIsAwayGetsAPause() async throws {
        var ids: [NotificationID] = []
        for second in 0..<12 { ids.append(try await push([.apple: "m\(second)"], at: second)) }
        hub.tellOthers(.failure(PushGatewayError(.unavailable, "timeout")))
        #expect(await watch.sweep(now: at(40)) == .seconds(30))
        #expect(hub.takeAsked().count == OutcomeQuestions.groupSize)
        hub.tellOthers(.success(MessageOutcome(["Success": 1])))
        _ = await watch.sweep(now: at(50))
        for id in ids { #expect(try await outcomes(id) == ["Success"]) }
    }

    /// Pushes come faster than the hub may be asked.
    @Test func whatComesTooLateIsLeftOut() async throws {
        _ = await watch.sweep(now: at(0))
        let old = try await push([.apple: "a"], at: 10)
        _ = await watch.sweep(now: at(10_000))
        #expect(hub.takeAsked() == [])
        #expect(try await outcomes(old) == [nil])
        _ = try await push([.apple: "b"], at: 9990)
        _ = await watch.sweep(now: at(10_010))
        #expect(hub.takeAsked() == ["b"])
    }

    @Test func withoutMessageIDsNothingIsAsked() async throws {
        let notification = Notification(
            id: NotificationID(at: Self.noon), sender: "test", recipient: try #require(UserName("alice")),
            createdAt: Self.noon, expiresAt: at(10_000))
        try await store.append([
            SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
        ])
        _ = try await store.claim([notification.id], first: [], now: Self.noon)
        let sent = Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: Self.noon)
        try await store.record([DispatchOutcome(id: notification.id, attempt: 1, deliveries: [sent])])
        for second in [20, 70, 400, 2000, 8000] { _ = await watch.sweep(now: at(second)) }
        #expect(hub.takeAsked() == [])
    }
}
