import HTTPTypes
package import ServiceConfiguration
import Synchronization

/// Refuses requests above a rate, separately for each key, such as a user's name: with 429, `Retry-After`, and the
/// fields `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10).
///
/// It is a token bucket that keeps one time per key: when its bucket will be full again (the generic cell rate
/// algorithm). A refused request does not count. Each process counts for itself.
package final class RateLimiter: Sendable {
    /// The number of keys that are remembered. If more than half as many come within the time in which a bucket fills,
    /// the keys that have not come since then begin with a full bucket.
    package static let maxKeys = 100_000

    private struct State {
        /// Keys that came since the last change of generations, and those of the generation before.
        var young: [String: ContinuousClock.Instant] = [:]
        var old: [String: ContinuousClock.Instant] = [:]
    }

    private let name: String
    private let limit: RateLimit
    private let halfCapacity: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: of the policy, in the fields. Quoted there, so it is plain ASCII without quotes.
    ///   - maxKeys: tests use fewer.
    ///   - now: the clock; tests use another one.
    package init(
        _ name: String, _ limit: RateLimit, maxKeys: Int = RateLimiter.maxKeys,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.name = name
        self.limit = limit
        self.now = now
        halfCapacity = max(1, maxKeys / 2)
    }

    /// Counts a request of a key.
    ///
    /// - Throws: 429 if the key has no request left.
    package func take(_ key: String) throws(Problem) {
        let time = now()
        let interval = limit.period / limit.count
        let wait: Duration? = state.withLock { state in
            let fullAt = max(state.young[key] ?? state.old[key] ?? time, time)
            let wait = fullAt - time - interval * (limit.burst - 1)
            // Also a key that is refused is kept in the young generation, or its bucket would be full again soon.
            if state.young.count >= halfCapacity, state.young[key] == nil {
                state.old = state.young
                state.young = [:]
            }
            state.young[key] = wait > .zero ? fullAt : fullAt + interval
            return wait > .zero ? wait : nil
        }
        if let wait { throw refusal(wait) }
    }

    /// The number of keys that are remembered now.
    var keyCount: Int { state.withLock { $0.young.count + $0.old.count } }

    private func refusal(_ wait: Duration) -> Problem {
        var problem = Problem.tooManyRequests(
            "You may send \(limit.count) requests per \(limit.period.configurationText), and \(limit.burst) at once.",
            retryAfter: wait)
        let seconds = problem.headers[.retryAfter] ?? "1"
        problem.headers[.rateLimit] = "\"\(name)\";r=0;t=\(seconds)"
        problem.headers[.rateLimitPolicy] = "\"\(name)\";q=\(limit.count);w=\(limit.period.components.seconds)"
        return problem
    }
}

extension HTTPField.Name {
    fileprivate static let rateLimit = HTTPField.Name(static: "ratelimit")
    fileprivate static let rateLimitPolicy = HTTPField.Name(static: "ratelimit-policy")
}
