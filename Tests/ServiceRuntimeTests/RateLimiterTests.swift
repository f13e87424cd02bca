import HTTPTypes
import ServiceConfiguration
import Synchronization
import Testing

@testable import ServiceRuntime

@Suite("Rates")
struct RateLimiterTests {
    private final class Clock: Sendable {
        let time = Mutex(ContinuousClock.now)
        func pass(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private static func limiter(_ text: String, _ clock: Clock, maxKeys: Int = 100) throws -> RateLimiter {
        let limit = try #require(RateLimit(configurationText: text))
        return RateLimiter("user", limit, maxKeys: maxKeys, now: { clock.time.withLock { $0 } })
    }

    /// Takes until it is refused.
    private func taken(_ limiter: RateLimiter, _ key: String = "alice", most: Int = 2000) -> Int {
        for count in 0..<most { guard (try? limiter.take(key)) != nil else { return count } }
        return most
    }

    @Test(arguments: [
        ("30/m,burst=30", 30, 60, 30), ("30/m", 30, 60, 30), ("1/s", 1, 1, 1), ("5/h,burst=1", 5, 3600, 1),
        ("2/d,burst=1000000", 2, 86_400, 1_000_000), ("1000000/s,burst=1", 1_000_000, 1, 1),
    ])
    func `A rate is read`(_ text: String, count: Int, seconds: Int, burst: Int) throws {
        let limit = try #require(try ConfigurationParser<RateLimit?>.rateLimitOrOff.parse(text))
        #expect(limit.count == count && limit.period == .seconds(seconds) && limit.burst == burst)
    }

    @Test func `Off is no limit`() throws {
        #expect(try ConfigurationParser<RateLimit?>.rateLimitOrOff.parse("off") == nil)
    }

    @Test(arguments: [
        "30", "/m", "30/", "30/mm", "30/M", "0/m", "-1/m", "+1/m", "1.5/m", "30/m,", "30/m,burst", "30/m,burst=",
        "30/m,burst=0", "30/m,burst=-1", "30/m,burst=5,burst=6", "30/m,Burst=5", "30/m, burst=5", "1000001/s",
        "1/s,burst=1000001", "99999999999999999999/s", "٣/m", "30 /m", "30/m/s", "on", "none", "OFF", "true",
    ])
    func `Everything else is refused with a sentence`(_ text: String) {
        let refusal = #expect(throws: ConfigurationRefusal.self) {
            try ConfigurationParser<RateLimit?>.rateLimitOrOff.parse(text)
        }
        #expect(refusal?.problem.contains("30/m,burst=30") == true)
    }

    @Test(arguments: [("30/m,burst=30", 30), ("3/s,burst=10", 10), ("10/h,burst=1", 1), ("1000000/s,burst=7", 7)])
    func `A burst is allowed and no more`(_ text: String, burst: Int) throws {
        let clock = Clock()
        let limiter = try Self.limiter(text, clock)
        #expect(taken(limiter) == burst)
        #expect(taken(limiter, "bob") == burst)
        clock.pass(.seconds(86_400))
        #expect(taken(limiter) == burst)
    }

    @Test func `The rate is the average`() throws {
        let clock = Clock()
        let limiter = try Self.limiter("30/m,burst=5", clock)
        #expect(taken(limiter) == 5)
        clock.pass(.milliseconds(1999))
        #expect(taken(limiter) == 0)
        clock.pass(.milliseconds(1))
        #expect(taken(limiter) == 1)
        clock.pass(.seconds(6))
        #expect(taken(limiter) == 3)
    }

    /// A client that asks too often is no worse off than one that waits.
    @Test func `A refusal does not count`() throws {
        let clock = Clock()
        let limiter = try Self.limiter("1/s,burst=1", clock)
        #expect(taken(limiter) == 1)
        for _ in 0..<100 { #expect(taken(limiter) == 0) }
        clock.pass(.seconds(1))
        #expect(taken(limiter) == 1)
    }

    @Test(arguments: [("30/m,burst=30", "2", "60"), ("1/h,burst=1", "3600", "3600"), ("100/s,burst=1", "1", "1")])
    func `The fields say how long to wait`(_ text: String, wait: String, window: String) throws {
        let limiter = try Self.limiter(text, Clock())
        _ = taken(limiter)
        let problem = try #require(throws: Problem.self) { try limiter.take("alice") }
        let quota = text.prefix { $0 != "/" }
        #expect(problem.status == .tooManyRequests && problem.headers[.retryAfter] == wait)
        #expect(problem.headers[try #require(HTTPField.Name("RateLimit"))] == #""user";r=0;t=\#(wait)"#)
        #expect(
            problem.headers[try #require(HTTPField.Name("RateLimit-Policy"))] == #""user";q=\#(quota);w=\#(window)"#)
    }

    @Test func `The number of keys is bounded and whoever comes often is not forgotten`() throws {
        let limiter = try Self.limiter("1/d,burst=2", Clock(), maxKeys: 100)
        #expect(taken(limiter) == 2)
        for number in 0..<1000 {
            #expect(taken(limiter, "user \(number)") == 2)
            if number.isMultiple(of: 20) { #expect(taken(limiter) == 0) }
            #expect(limiter.keyCount <= 101)
        }
    }
}
