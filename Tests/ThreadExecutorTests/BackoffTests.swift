import Testing
import ThreadExecutor

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

    @Test func waitsAreRandom() {
        var backoff = Backoff()
        let waits = (0..<200).map { _ in backoff.next() }
        #expect(Set(waits.suffix(100)).count > 10, "The waits are not random.")
    }
}
