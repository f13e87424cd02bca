internal import Logging
internal import Synchronization

/// The key set behind `AUTH_JWKS_URL`: cached, fetched again when it has grown old or lacks a token's key.
///
/// Keys stay in use while the URL cannot be reached. One fetch at a time; who needs its outcome waits for it.
final class RemoteKeySet: Sendable {
    typealias Fetch = @Sendable () async throws -> [UInt8]

    private struct State {
        var schedule = KeyFetchSchedule()
        var keySet: VerificationKeySet?
        var document: [UInt8] = []
        var fetch: Task<Bool, Never>?

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
            guard let keySet = state.keySet else { return nil }
            _ = next(.age, &state)
            return keySet
        }
    }

    /// Fetches the keys, unless that was just done, and waits for it.
    ///
    /// - Returns: whether the last fetch succeeded.
    func refresh() async -> Bool {
        let (fetch, hasFailed) = state.withLock { state in next(.missingKey, &state) }
        return await fetch?.value ?? !hasFailed
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
