import Domain
import StackKit
import Synchronization
import Testing

@testable import Dispatcher

/// How a page of questions is asked, and what counts of it.
@Suite(.timeLimit(.minutes(5))) struct OutcomePageTests {
    private let bench = OutcomeBench()

    /// A store that does not take all outcomes.
    private struct FailingStore: ForwardingStore {
        let base: any Store
        /// Why outcomes are not stored; `nil` to store them.
        let failure: @Sendable ([DeliveryOutcomes]) -> StorageError?

        func recordOutcomes(_ outcomes: [DeliveryOutcomes]) async throws {
            if let failure = failure(outcomes) { throw failure }
            try await base.recordOutcomes(outcomes)
        }
    }

    @Test func `One that is refused does not stop the others`() async throws {
        let clock = bench.clock
        let ids = [try await bench.push([.apple: "a"]), try await bench.push([.apple: "b"])]
        for message in ["a", "b"] { bench.hub.tell(message, ["Success": 1]) }
        let watch = OutcomeWatch(
            store: FailingStore(base: bench.store) { outcomes in
                outcomes.contains { $0.id == ids[0] } ? StorageError(.failed, "refused by the test") : nil
            }, hub: bench.hub, logger: bench.lines.logger, clock: { clock.now })
        clock.set(bench.at(20))
        _ = await watch.sweep()
        #expect(try await bench.outcomes(ids[0]) == [nil])
        #expect(try await bench.outcomes(ids[1]) == ["Success"])
    }

    /// The outcomes that were counted.
    private final class Counted: Sendable {
        private let box = Mutex<[String]>([])

        var texts: [String] { box.withLock { $0 } }

        func add(_ outcome: MessageOutcome, _ platform: Platform) {
            box.withLock { $0.append("\(platform.rawValue) \(outcome.text)") }
        }
    }

    @Test func `An outcome counts once it is stored`() async throws {
        let (clock, counted) = (bench.clock, Counted())
        // The first call fails.
        let hasFailed = Atomic(false)
        let stumbling = FailingStore(base: bench.store) { _ in
            hasFailed.exchange(true, ordering: .relaxed) ? nil : StorageError(.timeout, "failed by the test")
        }
        let watch = OutcomeWatch(
            store: stumbling, hub: bench.hub, logger: bench.lines.logger,
            count: { counted.add($0, $1) }, clock: { clock.now })
        let id = try await bench.push([.apple: "a"])
        bench.hub.tell("a", ["Success": 1])
        clock.set(bench.at(20))
        _ = await watch.sweep()
        #expect(bench.hub.takeAsked() == ["a"] && counted.texts == [])
        #expect(try await bench.outcomes(id) == [nil])
        for second in [25, 30] {
            clock.set(bench.at(second))
            _ = await watch.sweep()
        }
        #expect(bench.hub.takeAsked() == ["a"] && counted.texts == ["apple Success"])
        #expect(try await bench.outcomes(id) == ["Success"])
    }

    /// The lease is for one page of questions. If the hub is slow, the page ends early, and no other dispatcher asks.
    @Test func `A slow page ends before the lease`() async throws {
        for second in 0..<30 { _ = try await bench.push([.apple: "m\(second)"], at: second) }
        bench.hub.tellOthers(.success(MessageOutcome(["Success": 1])))
        // 20 s per group.
        bench.hub.take(.seconds(2))
        #expect(await bench.sweep(60) == .zero)
        #expect(bench.hub.takeAsked().count == 20)
        #expect(bench.clock.now == bench.at(100))
        #expect(await bench.otherWatch().sweep() == .seconds(15))
        bench.hub.take(.zero)
        _ = await bench.watch.sweep()
        #expect(bench.hub.takeAsked().count == 10)
    }

    /// Three notifications on three platforms are nine messages. The fourth would make them twelve.
    @Test func `A group has at most ten messages`() async throws {
        for index in 0..<5 {
            _ = try await bench.push([.apple: "a\(index)", .windows: "w\(index)", .fcmv1: "f\(index)"], at: index)
        }
        // The refusal ends the page after the first group.
        bench.hub.tellOthers(.failure(PushGatewayError(.unauthorized, "HTTP 403")))
        await bench.sweep(30)
        #expect(bench.hub.takeAsked() == ["a0", "a1", "a2", "f0", "f1", "f2", "w0", "w1", "w2"])
    }
}
