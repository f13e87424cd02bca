import Synchronization
import TestSupport
import Testing

@testable import Hub

@Suite final class SendDeadlinesTests: Sendable {
    private let clock = StandingClock()
    private let ended = Mutex<[Int]>([])

    private func add(_ name: Int, after time: Duration, to deadlines: SendDeadlines) -> UInt64 {
        deadlines.add(clock.clock.instant() + time) { self.ended.withLock { $0.append(name) } }
    }

    @Test func `One sleeper ends each send at its deadline`() async throws {
        let deadlines = SendDeadlines(clock.clock)
        _ = add(2, after: .seconds(2), to: deadlines)
        _ = add(3, after: .seconds(3), to: deadlines)
        _ = add(1, after: .seconds(1), to: deadlines)
        for name in 1...3 {
            try await expectToHold { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
            try await expectToHold { self.ended.withLock { $0 } == Array(1...name) }
        }
        try await expectToHold { clock.sleeperCount == 0 }
    }

    /// A look goes through all sends, and thousands of them may have deadlines of their own.
    @Test func `Deadlines that are close to each other end together`() async throws {
        let deadlines = SendDeadlines(clock.clock)
        _ = add(1, after: .milliseconds(100), to: deadlines)
        _ = add(2, after: .milliseconds(101), to: deadlines)
        _ = add(3, after: .milliseconds(102), to: deadlines)
        try await expectToHold { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(100))
        try await expectToHold { self.ended.withLock { $0 } == [1] && clock.sleeperCount == 1 }
        _ = add(4, after: .milliseconds(3), to: deadlines)
        clock.advance(by: .milliseconds(9))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await expectToHold { self.ended.withLock { $0.sorted() } == [1, 2, 3, 4] && clock.sleeperCount == 0 }
    }

    @Test func `Sends that have ended start no sleeper, and the one of before ends`() async throws {
        let deadlines = SendDeadlines(clock.clock)
        for name in 1...3 {
            deadlines.remove(add(name, after: .seconds(2), to: deadlines))
            try await expectToHold { clock.sleeperCount == 1 }
        }
        let last = add(4, after: .seconds(3), to: deadlines)
        clock.advance(by: .seconds(2))
        // It goes on until the deadline that is left.
        try await expectToHold { clock.sleeperCount == 1 }
        deadlines.remove(last)
        clock.advance(by: .seconds(1))
        try await expectToHold { clock.sleeperCount == 0 }
        #expect(ended.withLock { $0 } == [])
    }
}
