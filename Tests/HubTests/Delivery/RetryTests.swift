import Domain
import Foundations
import Logging
import PushServices
import StackKit
import Storage
import TestSupport
import Testing

@testable import Hub

@Suite struct RetryTests {
    @Test func `A push is tried again until it is accepted`() async throws {
        try await withDelivery { bench in
            bench.connector.plan(
                "a", .answer(.failed(after: nil)), .answer(.throttled(after: .seconds(40))), .answer(.unreachable))
            try await bench.send(bench.push("a"))
            try await bench.sweep(after: .seconds(1))
            #expect(bench.connector.handles.count == 2)
            // As the push service said: not before, and at most a tenth later.
            try await bench.sweep(after: .seconds(39))
            #expect(bench.connector.handles.count == 2)
            try await bench.sweep(after: .seconds(6))
            #expect(bench.connector.handles.count == 3)
            try await bench.sweep(after: .seconds(30))
            #expect(bench.connector.handles.count == 4)
            #expect(try await bench.outcomes() == ["Success": 1])
        }
    }

    @Test(arguments: [nil, Duration.seconds(300)])
    func `It is given up when it expires, or after the time of the setting`(_ expiry: Duration?) async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.failed(after: .seconds(100))))
            try await bench.send(bench.push("a", expiresAt: expiry.map { StandingClock.start + $0 }))
            for _ in 0..<40 where try await bench.stored() > 0 { try await bench.sweep(after: .seconds(60)) }
            let end = expiry ?? .seconds(1800)
            let passed = bench.clock.clock.now() - StandingClock.start
            #expect(passed >= end && passed <= end + .seconds(60))
            #expect(try await bench.outcomes() == ["AbandonedNotification": 1])
        }
    }

    /// The process died between the 201 and the retry, or in the middle of a push.
    @Test func `What a process leaves is pushed by the next one`() async throws {
        try await withTables { store in
            let clock = StandingClock()
            let dead = DeliveryBench(store.tables, clock: clock)
            dead.connector.plan("a", .answer(.failed(after: .seconds(1))))
            dead.connector.plan("b", .silence)
            async let outcomes = dead.send(dead.push("a"), dead.push("b"))
            try await expectToHold { dead.isAlone(silent: 1) }
            clock.advance(by: .seconds(2))
            #expect(try await outcomes == [.unknown, .unknown])
            let next = DeliveryBench(store.tables, clock: clock)
            try await next.sweep(after: .seconds(2))
            #expect(next.connector.handles == ["a"])
            // The claim of the other one ends after a bounded time.
            try await next.sweep(after: dead.delivery.settings.claim)
            #expect(next.connector.handles == ["a", "b"])
            #expect(try await next.outcomes() == ["Success": 2])
            // The answer of the dead one counts for nothing any more.
            dead.connector.end("b", .accepted)
            await dead.delivery.inFlight.waitUntilNone()
            await dead.delivery.ends.waitUntilWritten()
            #expect(try await next.outcomes() == ["Success": 2])
        }
    }

    @Test func `One push without an answer does not hold the others of its platform`() async throws {
        var settings = DeliverySettings()
        settings.maxRetries = 4
        try await withDelivery(settings: settings) { bench in
            bench.connector.answerAll(.answer(.failed(after: .seconds(1))))
            // Fewer failures than open the circuit.
            let sent = try await bench.send((0..<9).map { bench.push("h\($0)") })
            #expect(Set(sent) == [.unknown])
            bench.connector.answerAll(.answer(.accepted))
            bench.connector.plan("h0", .silence)
            bench.clock.advance(by: .seconds(2))
            try await expectToHold {
                _ = await bench.retries.sweep()
                return try await bench.stored() == 1 && bench.connector.silentCount == 1
            }
            bench.connector.end("h0", .accepted)
            try await expectToHold { try await bench.outcomes() == ["Success": 9] }
        }
    }

    @Test func `Of several processes one pushes each`() async throws {
        try await withPostgresDatabase { url in
            try await withTables(try StorageConfiguration(url: url)) { store in
                let clock = StandingClock()
                let benches = (0..<2).map { _ in DeliveryBench(store.tables, clock: clock) }
                benches[0].connector.answerAll(.answer(.failed(after: .seconds(1))))
                let handles = (0..<250).map { "h\($0)" }
                _ = try await benches[0].send(handles.map { benches[0].push($0) })
                #expect(try await benches[0].stored() == 250)
                benches[0].connector.answerAll(.answer(.accepted))
                let before = benches[0].connector.handles.count
                clock.advance(by: .seconds(2))
                for _ in 0..<20 where try await benches[0].stored() > 0 {
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for bench in benches { tasks.addTask { try await bench.sweep() } }
                    }
                }
                let pushed = Array(benches[0].connector.handles.dropFirst(before)) + benches[1].connector.handles
                #expect(pushed.sorted() == handles.sorted())
                #expect(try await benches[1].outcomes() == ["Success": 250])
            }
        }
    }

    @Test func `A running service wakes when a push falls due`() async throws {
        try await withTables { store in
            // The real clock: the service looks again only after an hour, unless the alarm rings.
            var settings = DeliverySettings()
            settings.standby = .seconds(3600)
            let connector = ScriptedConnector()
            let delivery = HubDelivery(
                lanes: PushLanes(DeliveryBench.pushers(connector), settings: settings, logger: .init(label: "test")),
                tables: store.tables, settings: settings, logger: .init(label: "test")
            ) { _ in }
            let retries = RetryService(delivery, logger: .init(label: "test"))
            let running = Task { try await retries.run() }
            connector.plan("a", .answer(.failed(after: .milliseconds(300))))
            let push = Push(
                lane: HubLaneKey(hub: DeliveryBench.hub, platform: "apple"), messageID: "m",
                request: PushRequest(address: .handle("a"), body: []), handle: "a", sentAt: .now)
            let message = HubMessage(
                id: "m", hub: DeliveryBench.hub, state: HubMessage.completed, enqueuedAt: .now, body: [],
                purgeAt: .now + .seconds(60))
            let result = try await delivery.deliver(
                .init(message: message, pushes: [push], deadline: .now + .seconds(2)))
            guard case .done([.unknown], isStored: true) = result else {
                Issue.record("\(result)")
                return
            }
            try await expectToHold { connector.handles == ["a", "a"] }
            running.cancel()
            _ = try? await running.value
        }
    }

    @Test func `Waits are as asked, else random up to the step`() {
        func wait(_ attempt: Int, _ platform: NotificationFormat = .apple, asked: Duration? = nil) -> [Duration] {
            [0.0, 1.0].map { part in
                RetryWait.duration(afterAttempt: attempt, of: platform, asked: asked) { range in
                    range.lowerBound + (range.upperBound - range.lowerBound) * part
                }
            }
        }
        #expect(wait(1) == [.milliseconds(200), .seconds(1)])
        #expect(wait(3)[1] == .seconds(30) && wait(5)[1] == .seconds(300) && wait(99)[1] == .seconds(300))
        #expect(wait(1, .fcmv1) == [.seconds(10), .seconds(10)])
        #expect(wait(4, .fcmv1) == [.seconds(10), .seconds(120)])
        let asked = wait(1, asked: .seconds(20))
        #expect(asked[0] == .seconds(20) && asked[1] > .seconds(21) && asked[1] < .seconds(23))
        #expect(wait(1, asked: .seconds(-5)) == [.milliseconds(200), .milliseconds(200)])
        #expect(wait(1, asked: .seconds(1_000_000))[0] == .seconds(86_400))
    }
}
