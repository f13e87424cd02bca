import Domain
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import NotificationHubs

@Suite(.timeLimit(.minutes(5))) struct HubSenderFailureTests {
    private static var quick: HubSenderOptions {
        var options = HubSenderOptions()
        options.deadline = .milliseconds(200)
        return options
    }

    @Test func `Every request has a deadline`() async throws {
        let script: FakeHub.Script = { $0.header("ServiceBusNotification-Tags") == "slow" ? [] : [FakeHub.created()] }
        var notification = HubNotification.sample
        notification.tag = "slow"
        let slow = notification
        try await withFakeHub(script) { hub in
            try await withHubSender(hub, concurrency: 1, options: Self.quick) { sender, _ in
                // A loaded machine may need more than the deadline for the connection alone, here and below.
                try await expectEventually {
                    let start = ContinuousClock.now
                    // The second waits for the first one's connection and runs out of time with it.
                    async let first = sender.send(slow)
                    async let second = sender.send(slow)
                    let outcomes = await [first, second]
                    #expect(start.duration(to: .now) >= .milliseconds(200))
                    #expect(!outcomes.contains { $0.isSent }, "\(outcomes)")
                    return outcomes.contains { $0.isUnanswered } && outcomes.contains { $0.isNotSent }
                }
                try await expectEventually { await sender.send(.sample).isSent }
            }
        }
    }

    @Test func `An answer that drips has the same deadline`() async throws {
        // Drips for two minutes: a deadline that each byte put off would run into the suite's limit.
        let drips = [FakeHub.Step](repeating: .wait(.milliseconds(40)), count: 3000).flatMap { [$0, .write("H")] }
        try await withFakeHub({ _ in drips }) { hub in
            try await withHubSender(hub, options: Self.quick) { sender, _ in
                // The connection alone may take as long.
                try await expectEventually { await sender.send(.sample) == .unanswered(reason: "no answer in time") }
            }
        }
    }

    @Test func `To a hub that is not there nothing is sent`() async throws {
        let port = try await withFakeHub({ _ in [] }) { $0.port }
        let sender = HubSender(
            configuration: try localHub(port: port), concurrency: 4, logger: Logger(label: "test"))
        try await withService(sender) { _ in
            for _ in 0..<3 {
                #expect(await sender.send(.sample) == .notSent(reason: "no connection to the hub"))
            }
        }
    }

    @Test func `A plain peer is not spoken to where TLS is asked for`() async throws {
        try await withFakeHub({ _ in [FakeHub.created()] }) { hub in
            let sender = HubSender(
                configuration: try localHub(port: hub.port, scheme: "https"), concurrency: 1,
                logger: Logger(label: "test"), options: Self.quick)
            try await withService(sender) { _ in #expect(await sender.send(.sample).isNotSent) }
            #expect(hub.requests.isEmpty)
        }
    }

    @Test func `Idle connections are closed`() async throws {
        try await withFakeHub({ _ in [FakeHub.created()] }) { hub in
            var options = HubSenderOptions()
            options.idleTimeout = .milliseconds(50)
            try await withHubSender(hub, options: options) { sender, _ in
                #expect(await sender.send(.sample).isSent)
                try await expectEventually { hub.openConnections == 0 }
                #expect(await sender.send(.sample).isSent)
            }
            #expect(hub.connections == 2)
        }
    }

    @Test func `A connection that dies idle is replaced`() async throws {
        let script: FakeHub.Script = { request in
            [FakeHub.created()] + (request.number == 0 ? [.wait(.milliseconds(10)), .close] : [])
        }
        try await withFakeHub(script) { hub in
            try await withHubSender(hub) { sender, _ in
                #expect(await sender.send(.sample).isSent)
                try await expectEventually { hub.openConnections == 0 }
                // The sender hears of it a little later than the hub; a request in between is unavailable.
                try await expectEventually { await sender.send(.sample).isSent }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct HubSenderShutdownTests {
    @Test func `Drains what is in flight and waiting`() async throws {
        try await withFakeHub({ _ in [.wait(.milliseconds(20)), FakeHub.created()] }) { hub in
            let outcomes = Mutex<[SendOutcome]>([])
            try await withHubSender(hub, concurrency: 2) { sender, group in
                for _ in 0..<10 { sender.send(.sample) { outcome in outcomes.withLock { $0.append(outcome) } } }
                try await expectEventually { !hub.requests.isEmpty }
                await group.triggerGracefulShutdown()
                try await expectEventually { await !sender.send(.sample).isSent }
            }
            #expect(outcomes.withLock { $0.count } == 10)
            #expect(outcomes.withLock { $0.allSatisfy { $0.isSent } })
            try await expectEventually { hub.openConnections == 0 }
        }
    }

    @Test func `Fails what does not end in time`() async throws {
        try await withFakeHub({ _ in [] }) { hub in
            var options = HubSenderOptions()
            // Long: it is the shutdown that ends them.
            options.deadline = .seconds(600)
            options.drainTimeout = .milliseconds(100)
            let outcomes = Mutex<[SendOutcome]>([])
            try await withHubSender(hub, concurrency: 1, options: options) { sender, _ in
                for _ in 0..<3 { sender.send(.sample) { outcome in outcomes.withLock { $0.append(outcome) } } }
                try await expectEventually { hub.requests.count == 1 }
            }
            let reason = "the sender is shutting down"
            let failed = SendOutcome.notSent(reason: reason)
            let ends = outcomes.withLock { $0 }
            // One had been written; the two others had not.
            #expect(ends.count == 3)
            #expect(ends.count { $0 == .unanswered(reason: reason) } == 1)
            #expect(ends.count { $0 == failed } == 2)
            try await expectEventually { hub.openConnections == 0 }
        }
    }

    @Test func `An unused sender stops at once`() async throws {
        let sender = HubSender(configuration: try localHub(port: 1), concurrency: 4, logger: Logger(label: "test"))
        try await withService(sender) { _ in }
        #expect(await sender.send(.sample).isNotSent)
    }

    /// The dispatcher's way: it needs the answers before the sender's own turn to stop comes.
    @Test func `Stopping ends what the hub does not answer`() async throws {
        try await withFakeHub({ _ in [] }) { hub in
            var options = HubSenderOptions()
            // Neither the request's own deadline nor the tick is what ends it.
            options.deadline = .seconds(600)
            try await withHubSender(hub, concurrency: 1, options: options) { sender, _ in
                async let first = sender.send(.sample)
                try await expectEventually { hub.requests.count == 1 }
                async let second = sender.send(.sample)
                sender.stop(within: .milliseconds(100))
                let reason = "the sender is shutting down"
                #expect(await first == .unanswered(reason: reason))
                #expect(await second == .notSent(reason: reason))
                #expect(await sender.send(.sample) == .notSent(reason: reason))
                // A later and longer time changes nothing, nor does one that no clock can add up.
                sender.stop(within: .seconds(Int64.max))
            }
            try await expectEventually { hub.openConnections == 0 }
        }
    }
}
