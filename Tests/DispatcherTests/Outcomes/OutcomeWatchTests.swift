import Domain
import Foundations
import Logging
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

@testable import Dispatcher

/// What a dispatcher asks the hub, and when.
@Suite(.timeLimit(.minutes(5))) struct OutcomeWatchTests {
    private let bench = OutcomeBench()

    @Test func `The outcomes are stored`() async throws {
        let id = try await bench.push([.apple: "a", .windows: "w", .fcmv1: "f"])
        bench.hub.tell("a", ["Success": 2, "BadChannel": 1])
        bench.hub.tell("f", ["Dropped": 1])
        await bench.sweep(14)
        #expect(bench.hub.takeAsked() == [])
        await bench.sweep(16)
        #expect(bench.hub.takeAsked() == ["a", "f", "w"])
        #expect(try await bench.outcomes(id) == ["Success=2, BadChannel=1", "Dropped", nil])
        #expect(try await bench.store.status(of: id) == .dispatched)
    }

    /// The pauses grow, and end.
    @Test func `A message without an outcome is asked for less`() async throws {
        let id = try await bench.push([.apple: "a"])
        var asked: [Int] = []
        for times in [5...400, 1700...1900, 7100...7300, 19_800...20_000] {
            for second in stride(from: times.lowerBound, through: times.upperBound, by: 5) {
                await bench.sweep(second)
                if !bench.hub.takeAsked().isEmpty { asked.append(second) }
            }
        }
        #expect(asked == [20, 65, 305, 1805, 7205])
        #expect(try await bench.outcomes(id) == [nil])
    }

    @Test func `A scheduled notification is asked for after its time`() async throws {
        let day = 86_400
        let id = try await bench.push([.apple: "a"], pushedAt: day + 1, notBefore: day)
        bench.hub.tell("a", ["Success": 1])
        for second in [day, day + 14, day + 17] { await bench.sweep(second) }
        #expect(bench.hub.takeAsked() == ["a"])
        #expect(try await bench.outcomes(id) == ["Success"])
    }

    /// A push that had to wait for the hub is asked for in a later pass, and never within 10 s.
    @Test func `A late push is asked for later`() async throws {
        let id = try await bench.push([.apple: "a"], pushedAt: 55)
        bench.hub.tell("a", ["Success": 1])
        await bench.sweep(61)
        #expect(bench.hub.takeAsked() == [])
        await bench.sweep(301)
        #expect(try await bench.outcomes(id) == ["Success"])
    }

    @Test func `A new attempt is asked for by its own message`() async throws {
        let id = try await bench.push([.apple: "a", .windows: String?.none])
        bench.hub.tell("a", ["Success": 1])
        bench.hub.tell("w", ["BadChannel": 1])
        await bench.sweep(16)
        #expect(try await bench.outcomes(id) == ["Success", nil])
        #expect(try await bench.store.resend(id, sender: "test", now: bench.at(20)) == .owed([.windows]))
        // The dispatcher carries over what is on record.
        let plan = try #require(try await bench.store.claim([id], first: [], now: bench.at(21))[id])
        var deliveries = plan.deliveries
        let previous = deliveries.remove(at: 1)
        let policy = DispatchPolicy(platforms: [.apple, .windows])
        deliveries.append(
            policy.delivery(
                of: .windows, after: .answered(.sent(hubMessageID: "w"), hold: nil), previous: previous,
                now: bench.at(21)))
        try await bench.store.record([DispatchOutcome(id: id, attempt: plan.attempt, deliveries: deliveries)])
        #expect(bench.hub.takeAsked() == ["a"])
        await bench.sweep(61)
        #expect(bench.hub.takeAsked() == ["w"])
        #expect(try await bench.outcomes(id) == ["Success", "BadChannel"])
    }

    /// A message that is sent once more has another ID: the earlier outcome does not belong to it.
    @Test func `Another message has no outcome yet`() {
        let noon = OutcomeBench.noon
        let sent = Delivery(
            platform: .apple, state: .retrying, attempts: 1, hubMessageID: "a", updatedAt: noon, outcome: "Dropped")
        let again = DispatchPolicy(platforms: [.apple]).delivery(
            of: .apple, after: .answered(.sent(hubMessageID: "b"), hold: nil), previous: sent, now: noon)
        #expect(again.hubMessageID == "b" && again.outcome == nil)
    }

    @Test func `One of two dispatchers asks`() async throws {
        _ = try await bench.push([.apple: "a"])
        let other = bench.otherWatch()
        await bench.sweep(16)
        #expect(bench.hub.takeAsked() == ["a"])
        bench.clock.set(bench.at(17))
        #expect(await other.sweep() == .seconds(15))
        _ = try await bench.push([.apple: "b"], at: 20)
        bench.clock.set(bench.at(40))
        #expect(await other.sweep() == .seconds(15))
        #expect(bench.hub.takeAsked() == [])
    }

    /// The process dies; another one goes on at the stored place once the lease has ended.
    @Test func `Another dispatcher goes on`() async throws {
        _ = try await bench.push([.apple: "a"])
        _ = try await bench.push([.apple: "b"], at: 10)
        for message in ["a", "b"] { bench.hub.tell(message, ["Success": 1]) }
        await bench.sweep(20)
        #expect(bench.hub.takeAsked() == ["a"])
        let other = bench.otherWatch()
        bench.clock.set(bench.at(79))
        #expect(await other.sweep() == .seconds(15))
        #expect(bench.hub.takeAsked() == [])
        bench.clock.set(bench.at(80))
        _ = await other.sweep()
        #expect(bench.hub.takeAsked() == ["b"])
    }

    @Test func `Who stops gives the lease back`() async throws {
        let store = bench.store
        let watch = OutcomeWatch(store: store, hub: bench.hub, logger: Logger(label: "test"))
        let group = ServiceGroup(services: [watch], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await expectEventually {
                try await store.leaseOutcomes(holder: 1, now: .now, until: .now) == nil
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(try await store.leaseOutcomes(holder: 1, now: .now, until: .now) != nil)
    }

    @Test(arguments: [
        PushGatewayError(.unauthorized, "HTTP 403"), PushGatewayError(.rejected, "HTTP 405"),
    ])
    func `A tier without telemetry is left alone`(_ error: PushGatewayError) async throws {
        let ids = [try await bench.push([.apple: "a"]), try await bench.push([.apple: "b"], at: 1)]
        bench.hub.tellOthers(.failure(error))
        var asked: [Int] = []
        await bench.sweep(5)
        for second in stride(from: 20, through: 3600, by: 15) {
            await bench.sweep(second)
            if !bench.hub.takeAsked().isEmpty { asked.append(second) }
        }
        // Again after a minute, and then every half hour.
        #expect(asked == [20, 80, 1880])
        #expect(bench.lines.lines.map(\.level) == [.warning])
        for id in ids { #expect(try await bench.outcomes(id) == [nil]) }
        for id in ids { #expect(try await bench.store.status(of: id) == .dispatched) }
        // Once it works, the pass goes on where it was.
        bench.hub.tellOthers(.success(MessageOutcome(["Success": 1])))
        await bench.sweep(3680)
        for id in ids { #expect(try await bench.outcomes(id) == ["Success"]) }
    }

    /// One message that the hub cannot tell of keeps nothing else waiting.
    @Test func `A failure concerns its message`() async throws {
        let first = try await bench.push([.apple: "a"])
        let second = try await bench.push([.apple: "b"], at: 1)
        bench.hub.fail("a", PushGatewayError(.unavailable, "HTTP 500"))
        bench.hub.tell("b", ["Success": 1])
        await bench.sweep(20)
        #expect(try await bench.outcomes(second) == ["Success"])
        bench.hub.tell("a", ["Success": 1])
        await bench.sweep(65)
        #expect(try await bench.outcomes(first) == ["Success"])
    }

    /// Pushes come faster than the hub may be asked. One line tells it, and not one per pass.
    @Test func `What comes too late is left out`() async throws {
        await bench.sweep(0)
        let old = try await bench.push([.apple: "a"], at: 10)
        await bench.sweep(10_000)
        #expect(bench.hub.takeAsked() == [])
        #expect(try await bench.outcomes(old) == [nil])
        #expect(bench.lines.lines.map(\.level) == [.notice])
        #expect(bench.lines.lines.first?.message.hasPrefix("Outcomes of some messages are skipped") == true)
        _ = try await bench.push([.apple: "b"], at: 9990)
        await bench.sweep(10_010)
        #expect(bench.hub.takeAsked() == ["b"])
        #expect(bench.lines.lines.count == 1)
    }

    @Test func `Without message IDs nothing is asked`() async throws {
        let noon = OutcomeBench.noon
        let notification = Notification(
            id: NotificationID(at: noon), sender: "test", recipient: try #require(UserName("alice")),
            createdAt: noon, expiresAt: bench.at(10_000))
        try await bench.store.append([
            SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
        ])
        _ = try await bench.store.claim([notification.id], first: [], now: noon)
        let sent = Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: noon)
        try await bench.store.record([DispatchOutcome(id: notification.id, attempt: 1, deliveries: [sent])])
        for second in [20, 70, 400, 2000, 8000] { await bench.sweep(second) }
        #expect(bench.hub.takeAsked() == [])
    }
}
