import Testing

@testable import Postgres

struct BackoffTests {
    @Test func waitsStayBetweenATenthOfASecondAndFive() {
        var backoff = Backoff()
        let waits = (0..<200).map { _ in backoff.next() }
        #expect(waits.allSatisfy { $0 >= .milliseconds(100) && $0 <= .seconds(5) })
        #expect(waits[0] <= .milliseconds(200) && waits[1] <= .milliseconds(400))
        #expect(Set(waits.suffix(100)).count > 10, "The waits are not random.")
    }
}
