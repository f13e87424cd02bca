import Testing

@testable import AMQP

@Suite struct BackoffTests {
    @Test func growsToItsBoundAndBeginsAgain() {
        var backoff = Backoff()
        var longest = Duration.zero
        for attempt in 0..<200 {
            let wait = backoff.next()
            #expect(wait >= .milliseconds(50))
            #expect(wait <= max(.milliseconds(50), min(.seconds(5), .milliseconds(100) * (1 << min(attempt, 16)))))
            longest = max(longest, wait)
        }
        #expect(longest > .seconds(2))
        backoff.reset()
        #expect(backoff.next() <= .milliseconds(100))
    }

    @Test func theConnectionIsLookedAtTwiceAHeartbeatAndDeadAfterTwo() {
        let start = ContinuousClock.now
        var pulse = Pulse(heartbeat: .seconds(10), now: start)
        #expect(pulse.deadline == start + .seconds(5))
        let looks = [4, 5, 6].map { pulse.isDue(start + .seconds($0)) }
        #expect(looks == [false, true, false])
        #expect(pulse.deadline == start + .seconds(10))
        pulse.heard(start + .seconds(6))
        #expect(!pulse.isDead(start + .seconds(25)))
        #expect(pulse.isDead(start + .seconds(26)))
    }
}
