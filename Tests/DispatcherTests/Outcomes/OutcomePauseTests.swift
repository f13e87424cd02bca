import Domain
import Foundations
import Logging
import Testing

@testable import Dispatcher

/// What happens while hubs are not to be asked.
@Suite(.timeLimit(.minutes(5))) struct OutcomePauseTests {
    private let bench = OutcomeBench()

    private static let success = FakeTelemetry.Answer.success(MessageOutcome(["Success": 1]))
    private static let refusal = FakeTelemetry.Answer.failure(PushGatewayError(.unauthorized, "HTTP 403"))

    private static func throttled(_ pause: Duration?) -> FakeTelemetry.Answer {
        .failure(PushGatewayError(.throttled, "HTTP 429", retryAfter: pause))
    }

    @Test(
        arguments: [
            (nil, Duration.seconds(30)), (.seconds(7), .seconds(7)), (.seconds(100_000), .seconds(600)),
            (.zero, .seconds(1)),
        ] as [(Duration?, Duration)]) func `The hub's pause is kept`(_ asked: Duration?, _ pause: Duration) async throws
    {
        let first = try await bench.push([.apple: "a"])
        let second = try await bench.push([.apple: "b"], at: 1)
        bench.hub.tell("a", ["Success": 1])
        bench.hub.fail("b", PushGatewayError(.throttled, "HTTP 429", retryAfter: asked))
        // It sleeps for 15 s at most, so that it can renew the lease.
        #expect(await bench.sweep(20) == min(pause, .seconds(15)))
        #expect(try await bench.outcomes(first) == ["Success"])
        #expect(bench.hub.takeAsked() == ["a", "b"])
        bench.hub.tell("b", ["Success": 1])
        bench.clock.set(bench.at(20) + pause - Duration.milliseconds(1))
        #expect(await bench.watch.sweep() == .milliseconds(1))
        #expect(bench.hub.takeAsked() == [])
        bench.clock.set(bench.at(20) + pause)
        _ = await bench.watch.sweep()
        #expect(bench.hub.takeAsked() == ["b"])
        #expect(try await bench.outcomes(second) == ["Success"])
    }

    @Test func `A hub that is away gets a pause`() async throws {
        var ids: [NotificationID] = []
        for second in 0..<12 { ids.append(try await bench.push([.apple: "m\(second)"], at: second)) }
        bench.hub.tellOthers(.failure(PushGatewayError(.unavailable, "timeout")))
        await bench.sweep(40)
        #expect(bench.hub.takeAsked().count == OutcomeQuestions.groupSize)
        bench.hub.tellOthers(Self.success)
        await bench.sweep(69)
        #expect(bench.hub.takeAsked() == [])
        await bench.sweep(70)
        for id in ids { #expect(try await bench.outcomes(id) == ["Success"]) }
    }

    /// The process dies while the hub refuses: half an hour would be long for another one to wait.
    @Test func `A pause does not make the lease longer`() async throws {
        _ = try await bench.push([.apple: "a"])
        bench.hub.tellOthers(Self.refusal)
        await bench.sweep(20)
        await bench.sweep(80)
        #expect(bench.hub.takeAsked() == ["a", "a"])
        #expect(await bench.sweep(95) == .seconds(15))
        let other = bench.otherWatch()
        bench.clock.set(bench.at(154))
        #expect(await other.sweep() == .seconds(15))
        #expect(bench.hub.takeAsked() == [])
        bench.clock.set(bench.at(155))
        _ = await other.sweep()
        #expect(bench.hub.takeAsked() == ["a"])
    }

    /// The passes are late because of the hub, and not because there are too many pushes.
    @Test(
        arguments: [(refusal, [Logger.Level.warning]), (throttled(.seconds(600)), [])]
            as [(FakeTelemetry.Answer, [Logger.Level])])
    func `A long pause is not called too many pushes`(_ answer: FakeTelemetry.Answer, _ levels: [Logger.Level])
        async throws
    {
        bench.hub.tellOthers(answer)
        var last: NotificationID?
        for second in stride(from: 0, through: 12_000, by: 15) {
            if second % 1200 == 0 { last = try await bench.push([.apple: "m\(second)"], at: second) }
            await bench.sweep(second + 15)
        }
        #expect(bench.lines.lines.map(\.level) == levels)
        // It begins with the last half hour.
        bench.hub.tellOthers(Self.success)
        await bench.sweep(14_000)
        let newest = try #require(last)
        #expect(try await bench.outcomes(newest) == ["Success"])
        #expect(bench.lines.lines.count == levels.count)
    }

    @Test func `The refusal of one hub does not stop the questions to the other`() async throws {
        bench.hub.place(["alice": "east", "bob": "west"])
        bench.hub.tell(hub: "west", Self.refusal)
        bench.hub.tell(hub: "east", Self.success)
        let first = try await bench.push([.apple: "a"])
        let refused = try await bench.push([.apple: "b"], to: "bob", at: 1)
        let second = try await bench.push([.apple: "c"], at: 2)
        #expect(await bench.sweep(20) == .seconds(5))
        #expect(bench.hub.takeAsked() == ["a", "b", "c"])
        for id in [first, second] { #expect(try await bench.outcomes(id) == ["Success"]) }
        #expect(bench.lines.lines.map { $0.metadata["hub"]?.description } == ["west"])
        let late = try await bench.push([.apple: "d"], to: "bob", at: 30)
        _ = try await bench.push([.apple: "e"], at: 31)
        await bench.sweep(50)
        #expect(bench.hub.takeAsked() == ["e"])
        // The messages that were left out get their outcomes in a later pass.
        bench.hub.tell(hub: "west", Self.success)
        await bench.sweep(85)
        #expect(bench.hub.takeAsked() == ["b"])
        await bench.sweep(95)
        #expect(bench.hub.takeAsked() == ["d"])
        for id in [refused, late] { #expect(try await bench.outcomes(id) == ["Success"]) }
    }

    /// The pass waits for the hub that may be asked first.
    @Test func `A pause of all hubs loses nothing`() async throws {
        bench.hub.place(["alice": "east", "bob": "west"])
        bench.hub.tell(hub: "east", Self.throttled(.seconds(20)))
        bench.hub.tell(hub: "west", Self.throttled(.seconds(60)))
        _ = try await bench.push([.apple: "a"])
        _ = try await bench.push([.apple: "b"], to: "bob", at: 1)
        await bench.sweep(20)
        #expect(bench.hub.takeAsked() == ["a", "b"])
        for hub in ["east", "west"] { bench.hub.tell(hub: hub, Self.success) }
        #expect(await bench.sweep(39) == .seconds(1))
        #expect(bench.hub.takeAsked() == [])
        // Only the first pass, which asks after 15 s, has come so far.
        await bench.sweep(40)
        #expect(bench.hub.takeAsked() == ["a"])
        await bench.sweep(81)
        #expect(bench.hub.takeAsked() == ["b"])
    }
}
