internal import Logging
internal import SecurePushCore
internal import Synchronization

/// The key set behind `AUTH_JWKS_URL`: cached, fetched again when it has grown old or lacks a token's key.
///
/// Keys stay in use while the URL cannot be reached, for a day at most: a key that was withdrawn there must not be
/// trusted for ever. One fetch at a time; who needs its outcome waits for it.
final class RemoteKeySet: Sendable {
    typealias Fetch = @Sendable () async throws -> [UInt8]

    /// How long keys are trusted after they were last fetched.
    static let maxAge = Duration.seconds(86_400)

    private struct State {
        var schedule = KeyFetchSchedule()
        var keySet: VerificationKeySet?
        var document: [UInt8] = []
        var fetch: Task<Bool, Never>?
        var fetched: ContinuousClock.Instant?

        mutating func end(successfully isSuccess: Bool) {
            schedule.ended(successfully: isSuccess)
            fetch = nil
        }
    }

    private let state = Mutex(State())
    private let fetch: Fetch
    private let now: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger

    init(logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant, fetch: @escaping Fetch) {
        self.logger = logger
        self.now = now
        self.fetch = fetch
    }

    /// The keys as they are now, without waiting. Asking for old ones starts a fetch.
    var current: VerificationKeySet? {
        state.withLock { state in
            guard let keySet = state.keySet, let fetched = state.fetched else { return nil }
            _ = next(.age, &state)
            return now() - fetched < Self.maxAge ? keySet : nil
        }
    }

    /// Fetches the keys, unless that was just done, and waits for it.
    ///
    /// - Returns: whether the last fetch succeeded.
    func refresh(_ reason: KeyFetchSchedule.Reason = .missingKey) async -> Bool {
        let (fetch, hasFailed) = state.withLock { state in next(reason, &state) }
        return await fetch?.value ?? !hasFailed
    }

    /// The URL as operators watch it: a problem while the last fetch has failed.
    func source(_ key: String) -> ReloadableSource {
        ReloadableSource(
            key: key, problem: { self.problem },
            reload: {
                guard await self.refresh(.reload) else {
                    throw AuthenticationSetupError(.unreadable, "the key set cannot be fetched")
                }
            })
    }

    private var problem: String? {
        state.withLock { state in
            // Asking for old keys starts a fetch, so that the answer is not that of the last token, hours ago.
            if state.keySet != nil { _ = next(.age, &state) }
            guard state.schedule.hasFailed else { return nil }
            guard let fetched = state.fetched, now() - fetched < Self.maxAge else {
                return "The key set cannot be fetched, and no keys are trusted: no token is accepted by it."
            }
            let hours = (now() - fetched).components.seconds / 3600
            return "The key set cannot be fetched. The keys fetched \(hours) h ago stay in use for 24 h at most."
        }
    }

    private func next(_ reason: KeyFetchSchedule.Reason, _ state: inout State) -> (Task<Bool, Never>?, Bool) {
        switch state.schedule.next(reason, at: now()) {
        case .fetch: state.fetch = Task { await self.run() }
        case .join: break
        case .keep(let hasFailed): return (nil, hasFailed)
        }
        return (state.fetch, false)
    }

    private func run() async -> Bool {
        do {
            let document = try await fetch()
            let isSame = state.withLock { $0.keySet != nil && $0.document == document }
            let keySet = isSame ? nil : try VerificationKeySet(jwks: document, logger: logger)
            state.withLock { state in
                if let keySet { (state.keySet, state.document) = (keySet, document) }
                state.fetched = now()
                state.end(successfully: true)
            }
            return true
        } catch {
            logger.warning("The key set cannot be fetched", metadata: ["error": "\(error)"])
            state.withLock { $0.end(successfully: false) }
            return false
        }
    }
}
