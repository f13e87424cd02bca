import SecurePushCore
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite("The dead letters for all who ask", .timeLimit(.minutes(1)))
struct DeadLetterDeskTests {
    /// Counts connections. It may keep the first one waiting, or refuse them.
    private final class Broker: Sendable {
        struct State {
            var time = ContinuousClock.now
            var opened = 0
            var problem: String?
        }

        let queues = FakeQueues()
        let state = Mutex(State())
        private let (silence, end) = AsyncStream<Void>.makeStream()

        init(letters: Int = 0, isSilent: Bool = false) {
            for _ in 0..<letters { queues.add(NotificationID(), reason: "attempts") }
            if !isSilent { end.finish() }
        }

        var opened: Int { state.withLock { $0.opened } }
        func speak() { end.finish() }
        func pass(_ time: Duration) { state.withLock { $0.time += time } }

        func open() async throws -> any DeadLetterQueue {
            let isFirst = try state.withLock { state in
                state.opened += 1
                if let problem = state.problem { throw PollFailure(description: problem) }
                return state.opened == 1
            }
            if isFirst { for await _ in silence {} }
            return queues
        }
    }

    private func makeDesk(_ broker: Broker) -> DeadLetterDesk {
        DeadLetterDesk(open: { try await broker.open() }, now: { broker.state.withLock { $0.time } })
    }

    @Test func manyPagesReadTheQueueOnce() async throws {
        let broker = Broker(letters: 3)
        let desk = makeDesk(broker)
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    let report = try await desk.oldest(9)
                    #expect(report.deadLetters.count == 3)
                }
            }
            try await group.waitForAll()
        }
        broker.pass(DeadLetterDesk.freshness - .milliseconds(1))
        let some = try await desk.oldest(2)
        #expect(some.deadLetters.count == 2 && some.total == 3)
        #expect(broker.opened == 1)
        broker.queues.add(NotificationID(), reason: "attempts")
        broker.pass(.milliseconds(1))
        #expect(try await desk.oldest(9).total == 4)
        #expect(broker.opened == 2)
    }

    @Test func aFailureIsForAllTooAndThenForgotten() async throws {
        let broker = Broker(letters: 1)
        let desk = makeDesk(broker)
        broker.state.withLock { $0.problem = "connection refused" }
        for _ in 0..<3 { await #expect(throws: PollFailure.self) { try await desk.oldest(9) } }
        #expect(broker.opened == 1)
        broker.state.withLock { $0.problem = nil }
        broker.pass(DeadLetterDesk.freshness)
        #expect(try await desk.oldest(9).total == 1)
    }

    @Test func afterAReplayTheQueueIsReadAgain() async throws {
        let broker = Broker(letters: 2)
        let desk = makeDesk(broker)
        #expect(try await desk.oldest(9).total == 2)
        try await desk.change { queue in
            let letter = try #require(try await queue.next())
            try await queue.remove(letter)
        }
        #expect(try await desk.oldest(9).total == 1)
    }

    /// A page that is opened during a replay does not see the letters that the replay holds.
    @Test func aReadingDuringAReplayIsNotGivenAgain() async throws {
        let broker = Broker(letters: 1)
        let desk = makeDesk(broker)
        try await desk.change { queue in
            _ = try await queue.next()
            #expect(try await desk.oldest(9).total == 0)
        }
        #expect(try await desk.oldest(9).total == 1)
    }

    /// It would miss the letters that the reading holds.
    @Test func aReplayBeginsAfterTheReading() async throws {
        let broker = Broker(letters: 1, isSilent: true)
        let desk = makeDesk(broker)
        let reading = Task { try await desk.oldest(9) }
        try await expectEventually { broker.opened == 1 }
        let replay = Task { try await desk.change { try await $0.count() } }
        // Time enough for a replay that does not wait.
        for _ in 0..<100 { await Task.yield() }
        #expect(broker.opened == 1)
        broker.speak()
        #expect(try await reading.value.total == 1)
        #expect(try await replay.value == 1)
        #expect(broker.opened == 2)
    }
}
