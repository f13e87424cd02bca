import Domain
import Foundations
import ServiceLifecycle
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Ingest

@Suite("PurgeSweep", .timeLimit(.minutes(5)))
struct PurgeSweepTests {
    @Test func `Full batches follow each other with pauses in proportion`() async throws {
        let clock = StepClock(sleeps: 5)
        let retention = ScriptedRetention(
            clock,
            [
                .batch(PurgeReport(payloads: 500), .milliseconds(30)),
                .batch(PurgeReport(notifications: 500), .milliseconds(60)),
                .batch(PurgeReport(keys: 250), .milliseconds(40)),
                .batch(PurgeReport(payloads: 1, notifications: 2, keys: 3), .milliseconds(4)),
                .batch(PurgeReport(), .milliseconds(1)),
            ])
        try await sweep(retention, until: clock)
        #expect(retention.limits == [500, 500, 250, 250, 250])
        let sleeps = clock.sleeps
        #expect(sleeps.count == 5)
        #expect((.zero...PurgeSweep.interval).contains(sleeps[0]))
        #expect(Array(sleeps[1...3]) == [.milliseconds(60), .milliseconds(120), .milliseconds(80)])
        #expect((.seconds(9) ... .seconds(11)).contains(sleeps[4]))
    }

    @Test func `A failure is tried again after the interval`() async throws {
        let clock = StepClock(sleeps: 3)
        let retention = ScriptedRetention(clock, [.failure, .failure, .batch(PurgeReport(), .zero)])
        try await sweep(retention, until: clock)
        #expect(retention.limits == [500, 500, 500])
        #expect(clock.sleeps.dropFirst().allSatisfy { (.seconds(9) ... .seconds(11)).contains($0) })
    }

    @Test func `A shutdown ends the wait`() async throws {
        let clock = StepClock(sleeps: 0)
        let retention = ScriptedRetention(clock, [])
        // It waits for good: only the shutdown's cancelling ends it.
        try await sweep(retention, until: clock)
        #expect(retention.limits.isEmpty)
    }

    @Test func `What has expired is destroyed and the rest stays`() async throws {
        let (store, alice) = (memoryStore(), try #require(UserName("alice")))
        let now = Timestamp.now
        var ids: [NotificationID] = []
        for number in 0..<1501 {
            let notification = Notification(
                sender: "clinic", recipient: alice, createdAt: now - .seconds(60),
                expiresAt: number == 0 ? now + .seconds(3600) : now - .milliseconds(1))
            ids.append(notification.id)
            let payload = SealedPayload(keyID: "k", bytes: [1])
            try await store.append([SealedNotification(notification: notification, payload: payload)])
        }
        let clock = StepClock(sleeps: 20)
        try await sweep(store, until: clock)
        #expect(try await store.find(ids[0], recipient: alice)?.payload != nil)
        for id in ids.dropFirst() {
            let stored = try #require(try await store.find(id, recipient: alice))
            #expect(stored.payload == nil)
        }
    }

    /// Runs a sweep until the clock has let it sleep as often as it may, then shuts it down.
    private func sweep(_ retention: any OperatorStore, until clock: StepClock) async throws {
        let purge = PurgeSweep(retention: retention, logger: .silent, clock: clock)
        let sweep = Sweep(every: PurgeSweep.interval, clock: clock) { await purge.sweep() }
        let group = ServiceGroup(services: [sweep], logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let isExhausted = try await eventually { clock.isExhausted }
            #expect(isExhausted)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }
}
