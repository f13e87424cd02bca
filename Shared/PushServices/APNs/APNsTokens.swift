import Crypto
package import Domain
package import Foundations
package import Logging
import Synchronization

/// The token of an APNs key: one for all connections of all processes, which is renewed after 40 to 50 minutes. APNs
/// refuses a token that is older than an hour, and a second new token within 20 minutes.
///
/// The processes share it through a store, and use the store's clock, because their own clocks may be wrong. While the
/// store fails, each process uses its last token, and makes its own when that is too old.
///
/// Decision: docs/decisions/0039-one-apns-token-for-all-processes.md
package final class APNsTokens: Sendable {
    package typealias Instant = ContinuousClock.Instant

    struct Token: Sendable, Hashable {
        /// The value of `authorization`.
        let authorization: String
        let issuedAt: Timestamp
        /// By the monotonic clock.
        let madeAt: Instant
        var isShared: Bool
    }

    private struct State: Sendable {
        var current: Token?
        /// The previous one.
        var former: Token?
        /// The `authorization` that APNs has called expired.
        var refused: String?
        /// When to read the store next.
        var nextLook: Instant?
        /// The number of the read that is in progress.
        var look: Int?
        var lookCount = 0
        var waiters = WaitList<Void>()
        /// How far the clock of the store is ahead of this process's clock.
        var clockDifference = Duration.zero
    }

    /// Each process renews at a random age in this range, so that the others find the new token.
    package static let renewal = 2_400...2_700
    /// A token of this age is not used any more.
    static let lifetime = Duration.seconds(3_300)
    /// A younger token is not replaced by a new one.
    static let minAge = Duration.seconds(1_200)
    /// How long after a failure the store is read again.
    static let pause = Duration.seconds(60)
    /// A token that is stored with a later time than this is not used: the store's clock was set back.
    private static let maxAhead = Duration.seconds(60)

    private let seal: APNsTokenSeal
    private let configuration: APNsConfiguration
    private let store: any SharedPushTokens
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let instant: @Sendable () -> Instant
    private let renewalAge: Duration
    private let patience: Duration
    private let state = Mutex(State())
    private let problem = LastingProblemLog(
        "The token of APNs cannot be shared with other processes", end: "The token of APNs is shared again")

    /// - Parameters:
    ///   - store: where all processes that push with the key share its token.
    ///   - now: the wall clock, for tokens that are made while the store fails.
    ///   - instant: the monotonic clock.
    ///   - renewalAge: in seconds.
    ///   - patience: the time limit for the store.
    package init(
        _ configuration: APNsConfiguration, store: any SharedPushTokens, logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { .now }, instant: @escaping @Sendable () -> Instant = { .now },
        renewalAge: Int = .random(in: renewal), patience: Duration = .seconds(3)
    ) {
        self.configuration = configuration
        self.store = store
        self.logger = logger
        self.now = now
        self.instant = instant
        self.renewalAge = .seconds(renewalAge)
        self.patience = patience
        seal = APNsTokenSeal(configuration)
    }

    /// The token for a push.
    ///
    /// - Returns: `nil` at the deadline, when the task is cancelled, and for lack of memory.
    func token(deadline: Instant) async -> Token? {
        let (token, look) = state.withLock { state in
            let now = instant()
            let usable = state.current.flatMap { isUsable($0, now) ? $0 : nil }
            let isDue = usable == nil || state.nextLook.map { now >= $0 } ?? true
            return (usable, isDue ? begin(&state) : nil)
        }
        if let look { run(look) }
        if let token { return token }
        await wait(until: deadline)
        return state.withLock { state in state.current.flatMap { isUsable($0, instant()) ? $0 : nil } }
    }

    /// The token after one that APNs calls expired.
    ///
    /// - Returns: `nil` if there is none: the token is too young to be the reason, so that a clock must be wrong.
    func renewed(after token: Token, deadline: Instant) async -> Token? {
        let look: Int?? = state.withLock { state in
            guard state.current?.authorization == token.authorization else { return .some(nil) }
            guard token.madeAt.duration(to: instant()) >= Self.minAge else { return nil }
            state.refused = token.authorization
            return .some(begin(&state))
        }
        guard let look else { return nil }
        if let look { run(look) }
        await wait(until: deadline)
        return state.withLock { $0.current?.authorization == token.authorization ? nil : $0.current }
    }

    /// The token before one that APNs calls too new. It is used until it is too old.
    ///
    /// - Returns: `nil` if there is none that APNs accepts.
    func former(insteadOf token: Token) -> Token? {
        state.withLock { state in
            guard state.current?.authorization == token.authorization else { return state.current }
            guard let former = state.former, isUsable(former, instant()), former.authorization != state.refused else {
                return nil
            }
            (state.current, state.former) = (former, nil)
            state.nextLook = former.madeAt + Self.lifetime
            return former
        }
    }

    private func isUsable(_ token: Token, _ now: Instant) -> Bool { token.madeAt.duration(to: now) < Self.lifetime }

    private func wait(until deadline: Instant) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.state.wait(in: \.waiters) { $0.look == nil ? () : nil } }
            group.addTask { try? await Task.sleep(until: deadline, clock: .continuous) }
            await group.next()
            group.cancelAll()
        }
    }
}

// MARK: - The store

extension APNsTokens {
    /// - Returns: the number of a read to start; `nil` if one is in progress.
    private func begin(_ state: inout State) -> Int? {
        guard state.look == nil else { return nil }
        state.lookCount += 1
        state.look = state.lookCount
        return state.lookCount
    }

    /// Reads the store in unstructured tasks, because pushes may be cancelled, and a store may hang.
    private func run(_ look: Int) {
        let timer = Task {
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            end(look, .failure(SetupError(.invalid, "The store did not answer in time.")))
        }
        Task {
            do {
                end(look, .success(try await shared()))
            } catch {
                end(look, .failure(error))
            }
            timer.cancel()
        }
    }

    /// The stored token, which is renewed first if necessary.
    private func shared() async throws -> Token {
        let (stored, storeNow) = try await store.token(of: seal.name)
        let (own, refused) = state.withLock { state in
            state.clockDifference = storeNow - now()
            return (state.current, state.refused)
        }
        if let stored, let token = opened(stored, storeNow), token.authorization != refused { return token }
        var token: Token
        if let own, !own.isShared, own.authorization != refused, own.madeAt.duration(to: instant()) < renewalAge {
            token = own
        } else {
            token = try make(at: storeNow)
        }
        let mine = try seal.close(token.authorization, issuedAt: token.issuedAt)
        let winner = try await store.replace(tokenIssuedAt: stored?.issuedAt, by: mine, of: seal.name)
        if winner != mine {
            guard let other = opened(winner, storeNow) else {
                throw SetupError(.malformed, "The stored token cannot be used.")
            }
            return other
        }
        token.isShared = true
        return token
    }

    /// A stored token; `nil` if it is due to be renewed, or cannot be read.
    private func opened(_ stored: SharedPushToken, _ storeNow: Timestamp) -> Token? {
        let age = storeNow - stored.issuedAt
        // A read-only process would make another token and not store it.
        let limit = store.isReadOnly ? Self.lifetime : .seconds(Self.renewal.lowerBound)
        guard age > .zero - Self.maxAhead, age < limit,
            let authorization = seal.open(stored)
        else { return nil }
        return Token(
            authorization: authorization, issuedAt: stored.issuedAt, madeAt: instant() - max(age, .zero), isShared: true
        )
    }

    private func make(at time: Timestamp) throws(SetupError) -> Token {
        let issuedAt = Timestamp(milliseconds: 0) + .seconds(time.seconds)
        let text = configuration.key.token(
            header: #"{"alg":"ES256","kid":"\#(configuration.keyID)"}"#,
            claims: #"{"iss":"\#(configuration.teamID)","iat":\#(issuedAt.seconds)}"#)
        guard let text else { throw SetupError(.invalid, "out of memory") }
        return Token(authorization: "bearer \(text)", issuedAt: issuedAt, madeAt: instant(), isShared: false)
    }

    private func end(_ look: Int, _ result: Result<Token, any Error>) {
        let waiters = state.withLock { state -> [WaitList<Void>.Waiter] in
            // The store may answer after the time limit.
            guard state.look == look else { return [] }
            state.look = nil
            switch result {
            case .success(let token): adopt(token, &state)
            case .failure: goOn(&state)
            }
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
        switch result {
        case .success: problem.succeeded(to: logger)
        case .failure(let error): problem.failed(ErrorText.describe(error), to: logger)
        }
    }

    private func adopt(_ token: Token, _ state: inout State) {
        let now = instant()
        if let current = state.current, current.authorization != token.authorization {
            let age = current.madeAt.duration(to: now)
            // APNs has just seen this process's token as a new one.
            if !current.isShared, age < Self.minAge, current.authorization != state.refused {
                state.nextLook = current.madeAt + Self.minAge
                return
            }
            state.former = current
        }
        state.current = token
        state.nextLook = max(token.madeAt + renewalAge, now + Self.pause)
    }

    /// Continues without the store.
    private func goOn(_ state: inout State) {
        let now = instant()
        state.nextLook = now + Self.pause
        if let current = state.current, isUsable(current, now), current.authorization != state.refused { return }
        guard let token = try? make(at: self.now() + state.clockDifference) else { return }
        (state.current, state.former) = (token, state.current)
    }
}
