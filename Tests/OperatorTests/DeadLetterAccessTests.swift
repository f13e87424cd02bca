import Domain
import Synchronization
import TestSupport
import Testing

@testable import Operator

@Suite("The dead letters for all who ask", .timeLimit(.minutes(5)))
struct DeadLetterAccessTests {
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
                if let problem = state.problem { throw Refusal(description: problem) }
                return state.opened == 1
            }
            if isFirst { for await _ in silence {} }
            return queues
        }
    }

    private func makeAccess(_ broker: Broker) -> DeadLetterAccess {
        DeadLetterAccess(open: { try await broker.open() }, now: { broker.state.withLock { $0.time } })
    }

    @Test func `Many pages read the queue once`() async throws {
        let broker = Broker(letters: 3)
        let deadLetters = makeAccess(broker)
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    let report = try await deadLetters.oldest(9)
                    #expect(report.oldest.count == 3)
                }
            }
            try await group.waitForAll()
        }
        broker.pass(DeadLetterAccess.freshness - .milliseconds(1))
        let some = try await deadLetters.oldest(2)
        #expect(some.oldest.count == 2 && some.total == 3)
        #expect(broker.opened == 1)
        broker.queues.add(NotificationID(), reason: "attempts")
        broker.pass(.milliseconds(1))
        #expect(try await deadLetters.oldest(9).total == 4)
        #expect(broker.opened == 2)
    }

    @Test func `A failure is for all too and then forgotten`() async throws {
        let broker = Broker(letters: 1)
        let deadLetters = makeAccess(broker)
        broker.state.withLock { $0.problem = "connection refused" }
        for _ in 0..<3 { await #expect(throws: Refusal.self) { try await deadLetters.oldest(9) } }
        #expect(broker.opened == 1)
        broker.state.withLock { $0.problem = nil }
        broker.pass(DeadLetterAccess.freshness)
        #expect(try await deadLetters.oldest(9).total == 1)
    }

    @Test func `After a replay the queue is read again`() async throws {
        let broker = Broker(letters: 2)
        let deadLetters = makeAccess(broker)
        #expect(try await deadLetters.oldest(9).total == 2)
        try await deadLetters.change { queue in
            let letter = try #require(try await queue.next())
            try await queue.remove(letter)
        }
        #expect(try await deadLetters.oldest(9).total == 1)
    }

    /// The letters that the replay holds would be missing in it.
    @Test(arguments: [1, 2, 20])
    func `A reading that begins during a replay waits for its end`(pages: Int) async throws {
        let broker = Broker(letters: 3)
        let deadLetters = makeAccess(broker)
        let (silence, end) = AsyncStream<Void>.makeStream()
        let replay = Task {
            try await deadLetters.change { queue in
                let letter = try #require(try await queue.next())
                for await _ in silence {}
                try await queue.remove(letter)
            }
        }
        try await expectEventually { broker.opened == 1 }
        let readings = (0..<pages).map { _ in Task { try await deadLetters.oldest(9) } }
        // Time enough for a reading that does not wait.
        for _ in 0..<100 { await Task.yield() }
        #expect(broker.opened == 1)
        end.finish()
        try await replay.value
        for reading in readings { #expect(try await reading.value.oldest.count == 2) }
        #expect(broker.opened == 2)
    }

    /// Each would report the letters that the other one holds as not found.
    @Test func `Two replays take turns`() async throws {
        let broker = Broker(letters: 6)
        let deadLetters = makeAccess(broker)
        let (silence, end) = AsyncStream<Void>.makeStream()
        let take: @Sendable (any DeadLetterQueue) async throws -> Int = { queue in
            var letters: [DeadLetter] = []
            while letters.count < 3, let letter = try await queue.next() { letters.append(letter) }
            for await _ in silence {}
            for letter in letters { try await queue.remove(letter) }
            return letters.count
        }
        let first = Task { try await deadLetters.change(take) }
        try await expectEventually { broker.opened == 1 }
        let second = Task { try await deadLetters.change(take) }
        for _ in 0..<100 { await Task.yield() }
        #expect(broker.opened == 1)
        end.finish()
        #expect(try await first.value == 3)
        #expect(try await second.value == 3)
        #expect(try await deadLetters.oldest(9).total == 0)
    }

    @Test func `Whoever is cancelled while it waits lets the others in`() async throws {
        let broker = Broker(letters: 1)
        let deadLetters = makeAccess(broker)
        let (silence, end) = AsyncStream<Void>.makeStream()
        let first = Task { try await deadLetters.change { _ in for await _ in silence {} } }
        try await expectEventually { broker.opened == 1 }
        let cancelled = Task { try await deadLetters.change { try await $0.count() } }
        let last = Task { try await deadLetters.change { try await $0.count() } }
        for _ in 0..<100 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        end.finish()
        try await first.value
        #expect(try await last.value == 1)
        #expect(broker.opened == 2)
    }

    @Test func `A replay that fails ends its turn`() async throws {
        let broker = Broker(letters: 1)
        let deadLetters = makeAccess(broker)
        for _ in 0..<2 {
            await #expect(throws: Refusal.self) {
                try await deadLetters.change { _ in throw Refusal(description: "the broker is away") }
            }
        }
        #expect(try await deadLetters.oldest(9).total == 1)
    }

    /// It would miss the letters that the reading holds.
    @Test func `A replay begins after the reading`() async throws {
        let broker = Broker(letters: 1, isSilent: true)
        let deadLetters = makeAccess(broker)
        let reading = Task { try await deadLetters.oldest(9) }
        try await expectEventually { broker.opened == 1 }
        let replay = Task { try await deadLetters.change { try await $0.count() } }
        // Time enough for a replay that does not wait.
        for _ in 0..<100 { await Task.yield() }
        #expect(broker.opened == 1)
        broker.speak()
        #expect(try await reading.value.total == 1)
        #expect(try await replay.value == 1)
        #expect(broker.opened == 2)
    }
}
