import Testing

@testable import SecurePushCLI

@Suite struct RetryScheduleTests {
    @Test func `The waits double up to the longest, and the tries end`() {
        var schedule = RetrySchedule(maxTries: 5, first: .seconds(1), longest: .seconds(3))
        let waits = (0..<5).map { _ in schedule.next(jitter: 1) }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(3), .seconds(3), nil])
        #expect(schedule.failures == 5)
    }

    @Test func `After a success the tries have no end, and begin with the shortest wait`() {
        var schedule = RetrySchedule(maxTries: 2, first: .seconds(1), longest: .seconds(2))
        _ = schedule.next(jitter: 1)
        schedule.succeed()
        let waits = (0..<100).map { _ in schedule.next(jitter: 0.5) }
        #expect(waits.prefix(2) == [.milliseconds(500), .seconds(1)] && !waits.contains(nil))
    }

    @Test(arguments: [(0, 1), (1, 1), (26, 26), (300, 300), (301, nil), (86_400, nil)] as [(Int, Int?)])
    func `Retry-After is honoured, up to five minutes`(seconds: Int, wait: Int?) {
        var schedule = RetrySchedule(maxTries: 4, first: .seconds(1), longest: .seconds(30))
        #expect(schedule.next(retryAfter: .seconds(seconds), jitter: 1) == wait.map { .seconds($0) })
    }
}
