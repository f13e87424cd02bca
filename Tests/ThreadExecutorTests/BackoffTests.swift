import Testing
import ThreadExecutor

struct BackoffTests {
    @Test func `The wait grows to its bound and begins again`() {
        var backoff = Backoff()
        var longest = Duration.zero
        for attempt in 0..<200 {
            let wait = backoff.next()
            #expect(wait >= .milliseconds(50))
            #expect(wait <= max(.milliseconds(50), min(.seconds(5), .milliseconds(100) * (1 << min(attempt, 16)))))
            longest = max(longest, wait)
        }
        #expect(longest > .seconds(2))
        backoff.connectionEnded(after: .seconds(2))
        #expect(backoff.next() <= .milliseconds(100))
    }

    @Test(arguments: [Duration.zero, .milliseconds(1), .milliseconds(999), .seconds(1)])
    func `A connection that ends at once is a failed attempt`(_ lifetime: Duration) {
        var backoff = Backoff()
        var longest = Duration.zero
        for _ in 0..<200 {
            longest = max(longest, backoff.next())
            backoff.connectionEnded(after: lifetime)
        }
        #expect(longest > .seconds(2))
    }

    @Test func `Waits are random`() {
        var backoff = Backoff()
        let waits = (0..<200).map { _ in backoff.next() }
        #expect(Set(waits.suffix(100)).count > 10, "The waits are not random.")
    }
}
