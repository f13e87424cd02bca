import Domain
import Foundations
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// A watch with a store in memory and fake hubs, at times that the test says.
struct OutcomeBench {
    static let noon = Timestamp(milliseconds: 1_795_262_400_123)

    let store: any Store
    let clock: OutcomeClock
    let hub: FakeTelemetry
    let lines: LogBook
    let watch: OutcomeWatch

    init() {
        let clock = OutcomeClock(Self.noon)
        store = memoryStore()
        self.clock = clock
        hub = FakeTelemetry(clock: clock)
        lines = LogBook()
        watch = OutcomeWatch(store: store, hub: hub, logger: lines.logger, clock: { clock.now })
    }

    /// Another process with the same store and the same hubs.
    func otherWatch() -> OutcomeWatch {
        OutcomeWatch(store: store, hub: hub, logger: lines.logger, clock: { [clock] in clock.now })
    }

    /// The time some seconds after noon.
    func at(_ seconds: Int) -> Timestamp { Self.noon + .seconds(seconds) }

    /// Sweeps at a time in seconds after noon.
    @discardableResult func sweep(_ seconds: Int) async -> Duration {
        clock.set(at(seconds))
        return await watch.sweep()
    }

    /// Stores a notification of a time, pushed at another one with these message IDs, by platform.
    func push(
        _ messages: [Platform: String?], to user: String = "alice", at seconds: Int = 0, pushedAt: Int? = nil,
        notBefore: Int? = nil
    ) async throws -> NotificationID {
        let notification = Notification(
            id: NotificationID(at: at(seconds)), sender: "test", recipient: try #require(UserName(user)),
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

    /// The outcomes of a notification, in the order of the platforms' names.
    func outcomes(_ id: NotificationID) async throws -> [String?] {
        try await store.record(id, sender: "test")?.deliveries.map(\.outcome) ?? []
    }
}

/// A clock that stands still unless the test, or a slow hub, moves it.
final class OutcomeClock: Sendable {
    private let time: Mutex<Timestamp>

    init(_ time: Timestamp) { self.time = Mutex(time) }

    var now: Timestamp { time.withLock { $0 } }

    func set(_ now: Timestamp) { time.withLock { $0 = now } }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}

/// Hubs that answer by message ID; unknown messages have no outcome.
final class FakeTelemetry: HubTelemetry {
    typealias Answer = Result<MessageOutcome?, PushGatewayError>

    private struct State {
        var answers: [String: Answer] = [:]
        /// By the name of the hub.
        var hubs: [String: Answer] = [:]
        var others: Answer = .success(nil)
        var asked: [String] = []
        /// The hub of each user; empty for a single hub.
        var users: [String: String] = [:]
        var time = Duration.zero
    }

    private let state = Mutex(State())
    private let clock: OutcomeClock

    init(clock: OutcomeClock) { self.clock = clock }

    /// The messages that the hubs were asked about since the last call, in the order of their IDs.
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

    /// The answer of one hub for all other messages.
    func tell(hub: String, _ answer: Answer) {
        state.withLock { $0.hubs[hub] = answer }
    }

    /// The answer for all other messages.
    func tellOthers(_ answer: Answer) {
        state.withLock { $0.others = answer }
    }

    /// Gives each user a hub.
    func place(_ users: [String: String]) {
        state.withLock { $0.users = users }
    }

    /// Each answer moves the clock by this time.
    func take(_ time: Duration) {
        state.withLock { $0.time = time }
    }

    var hubNames: [String] {
        let names = state.withLock { Set($0.users.values) }
        return names.isEmpty ? [""] : names.sorted()
    }

    func hubName(for recipient: UserName) -> String { state.withLock { $0.users[recipient.text] ?? "" } }

    func outcome(ofMessage id: String, to recipient: UserName) async throws -> MessageOutcome? {
        let (answer, time) = state.withLock { state in
            state.asked.append(id)
            let hub = state.users[recipient.text] ?? ""
            return (state.answers[id] ?? state.hubs[hub] ?? state.others, state.time)
        }
        clock.advance(by: time)
        return try answer.get()
    }
}
