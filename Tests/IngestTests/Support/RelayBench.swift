import Domain
import Foundations
import ServiceLifecycle
import TestSupport
import Testing

@testable import Ingest

extension OutboxTiming {
    /// What else takes seconds, at once.
    static let quick = OutboxTiming(
        confirmDelay: .zero, confirmInterval: .milliseconds(5), redeliveryDelay: .milliseconds(100),
        queueCheckInterval: .milliseconds(5), quietPeriod: .milliseconds(20))

    /// As ``quick``, but nothing that was published falls due again while a test runs.
    static let patient: OutboxTiming = {
        var timing = quick
        timing.redeliveryDelay = .seconds(3600)
        return timing
    }()
}

extension Timestamp {
    /// The creation of what does not fall due for the sweep while a test runs, however busy the machine is.
    static var unswept: Timestamp { .now + .seconds(1800) }
}

/// Runs relays for the time of the body, and then lets them drain.
func withRelays(_ relays: [OutboxRelay], _ body: () async throws -> Void) async throws {
    let group = ServiceGroup(services: relays, logger: .silent)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
        try result.get()
    }
}

/// Runs a relay for the time of the body, and then lets it drain.
func withRelay(
    _ outbox: any NotificationWriter, _ publisher: FakePublisher, _ timing: OutboxTiming = .patient,
    _ body: (OutboxRelay) async throws -> Void
) async throws {
    let relay = OutboxRelay(
        outbox: outbox, publisher: publisher, probe: FakeQueueProbe(), timing: timing, logger: .silent)
    try await withRelays([relay]) { try await body(relay) }
}

/// Notifications as ingest stores them.
func sampleNotifications(
    _ count: Int, at time: Timestamp = .now, notBefore: Timestamp? = nil
) throws -> [SealedNotification] {
    let recipient = try #require(UserName("alice"))
    return (0..<count).map { _ in
        let notification = Notification(
            id: NotificationID(at: time), sender: "clinic", recipient: recipient, createdAt: time,
            expiresAt: time + .seconds(86_400), notBefore: notBefore)
        return SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
    }
}

extension OutboxRelay {
    /// Hands over notifications whose first attempt is not claimed.
    func handOver(_ notifications: [Notification]) {
        handOver(
            notifications.map {
                SealedNotification(notification: $0, payload: SealedPayload(keyID: "k", bytes: [1]))
            })
    }
}

extension NotificationWriter {
    /// Stores as many notifications.
    func accept(
        _ count: Int, at time: Timestamp = .now, notBefore: Timestamp? = nil
    ) async throws -> [Notification] {
        let sealed = try sampleNotifications(count, at: time, notBefore: notBefore)
        try await append(sealed)
        return sealed.map(\.notification)
    }
}

extension Store {
    /// Does what a dispatcher does once the hub has taken notifications.
    func dispatch(_ ids: [NotificationID]) async throws {
        let plans = try await claim(ids, now: .now).plans
        try await record(
            plans.values.map { plan in
                let delivery = Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: .now)
                return DispatchOutcome(id: plan.id, attempt: plan.attempt, deliveries: [delivery])
            })
    }
}
