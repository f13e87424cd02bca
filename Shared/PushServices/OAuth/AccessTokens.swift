import Foundations
import Synchronization

/// The access token of one set of credentials (OAuth 2.0). It is requested once for all waiting pushes, and used until
/// shortly before its end. If the token service refuses or fails, not each push requests a token.
final class AccessTokens: Sendable {
    typealias Answer = Result<String, AccessTokenFailure>

    /// The meaning of a push service's response, and whether another token may help.
    typealias Attempt = (result: PushResult, refusesToken: Bool)

    private struct Token {
        var text: String
        /// From this time on another one is fetched, while this one is still used.
        var renewAt: ContinuousClock.Instant
        var endsAt: ContinuousClock.Instant
    }

    private struct Failure {
        var reason: AccessTokenFailure
        /// The token service is not asked before this time.
        var until: ContinuousClock.Instant
    }

    private struct State {
        var token: Token?
        /// The token that a push service has refused, until there is another one. It is used all the same: it may have
        /// been refused for one device.
        var refused: String?
        var failure: Failure?
        var failures = 0
        var isFetching = false
        var mayReplaceAt: ContinuousClock.Instant?
        var waiters = WaitList<Answer>()
    }

    private static let fetchTimeout = Duration.seconds(10)
    /// Google's advice: a new token 5 minutes before the end of the old one.
    private static let renewal = Duration.seconds(300)
    /// A push that is sent with the token takes a while.
    private static let margin = Duration.seconds(30)
    /// Shorter than the 30 s after which the hub probes a platform whose credentials are refused.
    private static let pauseAfterRefusal = Duration.seconds(20)
    private static let longestPause = Duration.seconds(60)
    /// The longest time that a token service can ask for; longer ones count as this.
    private static let longestAskedPause = Duration.seconds(600)
    /// Otherwise tokens that only the token service accepts would be fetched for every push.
    private static let replacementInterval = Duration.seconds(10)

    private let grant: AccessTokenGrant
    private let client: any PushHTTPSending
    private let now: @Sendable () -> Timestamp
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - client: is closed by its owner; a request for a token ends with it.
    ///   - now: the time of assertions.
    ///   - instant: the time by which tokens end.
    init(
        grant: AccessTokenGrant, client: any PushHTTPSending, now: @escaping @Sendable () -> Timestamp = { .now },
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.grant = grant
        self.client = client
        self.now = now
        self.instant = instant
    }

    /// Pushes with a token, and once more with another one if the push service refuses the first.
    ///
    /// - Parameters:
    ///   - request: the push with a token.
    ///   - read: the meaning of the response.
    func push(
        deadline: ContinuousClock.Instant, _ request: (String) -> PushHTTPRequest, read: (PushHTTPResponse) -> Attempt
    ) async -> PushResult {
        var refused: String?
        while true {
            let token: String
            switch await self.token(insteadOf: refused, deadline: deadline) {
            case .failure(let failure): return failure.result
            case .success(let text): token = text
            }
            switch await client.send(request(token), deadline: deadline) {
            case .failure(let failure): return PushResult(failure)
            case .success(let response):
                let (result, refusesToken) = read(response)
                guard refusesToken, refused == nil, mayReplace(token) else { return result }
                refused = token
            }
        }
    }

    /// Notes that a push service has refused a token.
    ///
    /// - Returns: false if the token that replaced another one a moment ago is refused too: then it is not the token's
    ///   age.
    private func mayReplace(_ refused: String) -> Bool {
        let now = instant()
        return state.withLock { state in
            guard state.token?.text == refused, state.refused != refused else { return true }
            if let time = state.mayReplaceAt, now < time { return false }
            state.mayReplaceAt = now + Self.replacementInterval
            state.refused = refused
            return true
        }
    }

    /// The token; waits for it until the deadline or the task's cancellation.
    ///
    /// - Parameter refused: a token that is of no use, if another one is to come.
    func token(insteadOf refused: String? = nil, deadline: ContinuousClock.Instant) async -> Answer {
        let now = instant()
        let (answer, isDue) = state.withLock { state -> (Answer?, Bool) in
            let answer = Self.answer(state, insteadOf: refused, now: now)
            let needsOne = state.token.map { now >= $0.renewAt || $0.text == state.refused } ?? true
            let mayAsk = state.failure.map { now >= $0.until } ?? true
            guard needsOne, mayAsk, !state.isFetching else { return (answer, false) }
            state.isFetching = true
            return (answer, true)
        }
        // An unstructured task, because it serves all waiting pushes, even if this push is given up.
        if isDue { Task { await fetch() } }
        if let answer { return answer }
        return await wait(insteadOf: refused, until: deadline)
    }

    /// - Returns: `nil` if the token service is to be asked, or is being asked.
    private static func answer(
        _ state: State, insteadOf refused: String?, now: ContinuousClock.Instant
    ) -> Answer? {
        let isUseless = refused != nil && refused == state.refused && refused == state.token?.text
        if !isUseless, let token = state.token, now < token.endsAt { return .success(token.text) }
        guard let failure = state.failure, now < failure.until, !state.isFetching else { return nil }
        if case .failed(let reason, _) = failure.reason {
            return .failure(.failed(reason: reason, after: now.duration(to: failure.until)))
        }
        return .failure(failure.reason)
    }

    private func wait(insteadOf refused: String?, until deadline: ContinuousClock.Instant) async -> Answer {
        let now = instant()
        let answer = await withTaskGroup(of: Answer?.self) { group in
            group.addTask {
                try? await self.state.wait(in: \.waiters) { state in
                    // The answer may have come before this.
                    if state.isFetching { return nil }
                    return Self.answer(state, insteadOf: refused, now: now)
                        ?? .failure(.unreachable(reason: "no token"))
                }
            }
            group.addTask {
                try? await Task.sleep(until: deadline, clock: .continuous)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        return answer ?? .failure(.unreachable(reason: Task.isCancelled ? "cancelled" : "token: timeout"))
    }

    private func fetch() async {
        let result = await request()
        let now = instant()
        let (waiters, answer) = state.withLock { state -> ([WaitList<Answer>.Waiter], Answer) in
            state.isFetching = false
            switch result {
            case .success(let fetched):
                state.token = Self.token(fetched, now: now)
                (state.refused, state.failure, state.failures) = (nil, nil, 0)
            case .failure(let reason):
                state.failures = min(state.failures + 1, 10)
                state.failure = Failure(reason: reason, until: now + Self.pause(reason, failures: state.failures))
            }
            // The waiting pushes cannot use the former token.
            let answer = Self.answer(state, insteadOf: state.token?.text, now: now) ?? result.map(\.token)
            return (state.waiters.removeAll(), answer)
        }
        for waiter in waiters { waiter.resume(returning: answer) }
    }

    private static func token(_ fetched: AccessTokenAnswer, now: ContinuousClock.Instant) -> Token {
        // The life of a short token must not be all margin.
        Token(
            text: fetched.token, renewAt: now + max(fetched.lifetime - renewal, fetched.lifetime / 2),
            endsAt: now + max(fetched.lifetime - margin, fetched.lifetime / 2))
    }

    private static func pause(_ failure: AccessTokenFailure, failures: Int) -> Duration {
        if case .refused = failure { return pauseAfterRefusal }
        var pause = min(.seconds(1 << (failures - 1)), longestPause)
        if case .failed(_, let asked?) = failure { pause = max(pause, min(asked, longestAskedPause)) }
        return pause
    }

    private func request() async -> Result<AccessTokenAnswer, AccessTokenFailure> {
        guard let request = grant.request(now: now()) else {
            return .failure(.failed(reason: "out of memory", after: nil))
        }
        switch await client.send(request, deadline: .now + Self.fetchTimeout) {
        case .success(let response):
            return Result { () throws(AccessTokenFailure) in try AccessTokenAnswer(response, now: now()) }
        case .failure(.notSent(let reason)), .failure(.unanswered(let reason)):
            return .failure(.unreachable(reason: "token: \(reason)"))
        }
    }
}
