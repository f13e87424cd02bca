import APITestSupport
import HTTPTypes
import HummingbirdTesting
import ServiceConfiguration
import ServiceRuntime
import Synchronization
import Testing

@testable import Ingest

@Suite("RATE_LIMIT_USER", .bothWays)
struct UserRateLimitTests {
    private static func limiter(_ text: String, _ now: @escaping @Sendable () -> ContinuousClock.Instant) throws
        -> RateLimiter
    {
        RateLimiter("user", try #require(RateLimit(configurationText: text)), now: now)
    }

    @Test(arguments: [true, false])
    func `A user who sends too much gets 429 and later sends again`(byPassword: Bool) async throws {
        let time = Mutex(ContinuousClock.now)
        let clock: @Sendable () -> ContinuousClock.Instant = { time.withLock { $0 } }
        try await withIngest(userLimit: Self.limiter("6/m,burst=3", clock)) { bench in
            let credentials = byPassword ? bench.credentials.basic : bench.credentials.bearer
            let send = { try await bench.post("", authorization: credentials, contentType: nil) }
            for _ in 0..<3 { #expect(try await send().status == .created) }
            let refused = try await send()
            try refused.expectProblem(429)
            #expect(refused.headers[.retryAfter] == "10")
            #expect(refused.headers[try #require(HTTPField.Name("RateLimit"))] == #""user";r=0;t=10"#)
            #expect(refused.headers[try #require(HTTPField.Name("RateLimit-Policy"))] == #""user";q=6;w=60"#)
            #expect(try await bench.count == 3)
        }
    }

    @Test func `Many at once get no more than one after the other`() async throws {
        let start = ContinuousClock.now
        try await withIngest(userLimit: Self.limiter("1/h,burst=20") { start }) { bench in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<60 {
                    // The same user, whatever the credentials.
                    let credentials = number.isMultiple(of: 2) ? bench.credentials.basic : bench.credentials.bearer
                    group.addTask {
                        try await bench.post("", authorization: credentials, contentType: nil).status.code
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 201 } == 20)
            #expect(statuses.count { $0 == 429 } == 40)
            #expect(try await bench.count == 20)
        }
    }

    @Test func `An application server is not limited`() async throws {
        let start = ContinuousClock.now
        try await withIngest(userLimit: Self.limiter("1/d,burst=1") { start }) { bench in
            for _ in 0..<5 {
                #expect(try await bench.post(#"{"Recipient":"alice","Payload":1}"#).status == .created)
            }
            #expect(try await bench.batch([#"{"Recipient":"alice","Payload":1}"#]).status == .ok)
            // What a user may not send is refused as ever, and does not use up what the user may send.
            for _ in 0..<3 {
                let body = #"{"Recipient":"alice","Payload":1}"#
                try (try await bench.post(body, authorization: bench.credentials.bearer)).expectProblem(403)
            }
            let sent = try await bench.post("", authorization: bench.credentials.bearer, contentType: nil)
            #expect(sent.status == .created)
        }
    }

    @Test func `The default is thirty a minute and off ends it`() throws {
        var reader = ConfigurationReader(environment: [:])
        let limit = try #require(reader[\.rateLimitUser])
        #expect(limit.count == 30 && limit.period == .seconds(60) && limit.burst == 30)
        var off = ConfigurationReader(environment: ["RATE_LIMIT_USER": "off"])
        #expect(off[\.rateLimitUser] == nil && off.issues.isEmpty)
    }
}
