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

    @Test func `Nobody sleeps for sends that have ended`() async throws {
        let deadlines = SendDeadlines(clock.clock)
        let first = add(1, after: .seconds(1), to: deadlines)
        let second = add(2, after: .seconds(2), to: deadlines)
        try await expectToHold { clock.sleeperCount == 1 }
        deadlines.remove(first)
        clock.advance(by: .seconds(1))
        // The sleeper goes on until the deadline that is left.
        try await expectToHold { clock.sleeperCount == 1 }
        deadlines.remove(second)
        try await expectToHold { clock.sleeperCount == 0 }
        #expect(ended.withLock { $0 } == [])
    }
}
