internal import AsyncHTTPClient
internal import Domain
internal import Foundations
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import OutgoingHTTP
internal import ServiceConfiguration
internal import Synchronization

/// The key set of `AUTH_JWKS_URL`. It is cached, and fetched again when it is old or does not have the key of a token.
///
/// Old keys are not used before they were fetched again, so that a withdrawn key is rejected even if there is no log-in
/// for a while. They stay in use while the URL cannot be reached, for one day at most. There is one fetch at a time,
/// and callers that need its outcome wait for it.
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
        /// Other documents than the first one.
        var changes = 0

        mutating func end(successfully isSuccess: Bool, at now: ContinuousClock.Instant) {
            schedule.ended(successfully: isSuccess, at: now)
            fetch = nil
        }

        func areKeysOld(at now: ContinuousClock.Instant) -> Bool {
            fetched.map { schedule.areOld($0, at: now) } ?? false
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

    /// The current keys, without waiting; `nil` if they are old. A fetch is started before they are.
    var current: VerificationKeySet? {
        state.withLock { state in
            guard let keySet = state.keySet, let fetched = state.fetched else { return nil }
            _ = next(.age, &state)
            let now = now()
            return now - fetched < Self.maxAge && !state.areKeysOld(at: now) ? keySet : nil
        }
    }

    /// Fetches keys that are old, and waits for the outcome. If that fails, they are current again for a while.
    func renewIfOld() async {
        let fetch = state.withLock { state in state.areKeysOld(at: now()) ? next(.age, &state).0 : nil }
        _ = await fetch?.value
    }

    /// Fetches the keys, unless they were just fetched, and waits for them.
    ///
    /// - Returns: whether the last fetch succeeded.
    func refresh(_ reason: KeyFetchSchedule.Reason = .missingKey) async -> Bool {
        let (fetch, hasFailed) = state.withLock { state in next(reason, &state) }
        return await fetch?.value ?? !hasFailed
    }

    /// The URL as operators see it: a problem while the last fetch has failed.
    func source(_ key: String) -> ReloadableSource {
        ReloadableSource(
            key: key, problem: { self.problem },
            reload: {
                guard await self.refresh(.reload) else {
                    throw SetupError(.unreadable, "the key set cannot be fetched")
                }
            },
            changes: { self.state.withLock { $0.changes } })
    }

    private var problem: String? {
        state.withLock { state in
            // Old keys start a fetch, so that the answer is not that of the last token hours ago.
            if state.keySet != nil { _ = next(.age, &state) }
            guard state.schedule.hasFailed else { return nil }
            guard let fetched = state.fetched, now() - fetched < Self.maxAge else {
                return "The key set cannot be fetched, and no keys are trusted: it accepts no tokens."
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
                if let keySet {
                    if state.keySet != nil { state.changes += 1 }
                    (state.keySet, state.document) = (keySet, document)
                }
                state.fetched = now()
                state.end(successfully: true, at: now())
            }
            return true
        } catch {
            let reason = (error as? HTTPClientError)?.shortDescription ?? ErrorText.describe(error)
            logger.warning("The key set cannot be fetched", metadata: ["error": "\(reason)"])
            state.withLock { $0.end(successfully: false, at: now()) }
            return false
        }
    }
}

/// Decides when a remote key set is fetched. It is a value without clock or network.
struct KeyFetchSchedule {
    enum Reason {
        /// There are keys, which may be too old.
        case age
        /// A token needs an unknown key.
        case missingKey
        /// An operator asked for it.
        case reload
    }

    enum Action: Equatable {
        case fetch
        /// Wait for the fetch in progress.
        case join
        /// Continue with the current keys. The last fetch may have failed.
        case keep(hasFailed: Bool)
    }

    /// How old keys may be when they are used.
    static let maxUnchecked = Duration.seconds(300)
    /// How old keys are when they are fetched again while tokens come in, so that no token has to wait.
    static let refreshInterval = Duration.seconds(240)
    /// How long old keys are used after a fetch has failed, without another fetch that has failed: longer than the next
    /// one takes that tokens cause.
    static let maxUncheckedAfterFailure = Duration.seconds(30)
    /// The minimum time between two fetches for tokens with unknown keys, so that such tokens cannot be used to attack
    /// the issuer's server.
    static let minInterval = Duration.seconds(10)
    /// The minimum time between two fetches while there are no keys at all, so that no token can be accepted.
    static let minIntervalWithoutKeys = Duration.seconds(1)

    private var isFetching = false
    private var hasKeys = false
    private(set) var hasFailed = false
    private var lastFetch: ContinuousClock.Instant?
    private var lastEnd: ContinuousClock.Instant?

    /// Whether keys must be fetched before they are used.
    func areOld(_ fetched: ContinuousClock.Instant, at now: ContinuousClock.Instant) -> Bool {
        guard now >= fetched + Self.maxUnchecked else { return false }
        guard hasFailed, let lastEnd else { return true }
        return now >= lastEnd + Self.maxUncheckedAfterFailure
    }

    mutating func next(_ reason: Reason, at now: ContinuousClock.Instant) -> Action {
        if isFetching { return .join }
        let interval =
            switch reason {
            case .age: hasFailed ? Self.minInterval : Self.refreshInterval
            case .missingKey: hasKeys ? Self.minInterval : Self.minIntervalWithoutKeys
            case .reload: Duration.zero
            }
        if let lastFetch, now < lastFetch + interval { return .keep(hasFailed: hasFailed) }
        isFetching = true
        lastFetch = now
        return .fetch
    }

    mutating func ended(successfully isSuccess: Bool, at now: ContinuousClock.Instant) {
        isFetching = false
        lastEnd = now
        hasFailed = !isSuccess
        hasKeys = hasKeys || isSuccess
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A URL of a key set.
struct KeySetURL: Sendable {
    private let url: String
    private let outgoing: OutgoingConfiguration

    /// Checks a URL.
    ///
    /// - Parameters:
    ///   - isInsecureAllowed: whether http to another machine is allowed (`ALLOW_INSECURE=jwks`).
    ///   - outgoing: the trusted authorities and the proxy.
    /// - Throws: ``SetupError`` `invalid` unless the URL is https, or http to this machine.
    init(
        _ text: String, isInsecureAllowed: Bool = false, outgoing: OutgoingConfiguration = OutgoingConfiguration()
    ) throws {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty,
            url.scheme == "https" || url.scheme == "http" && (isInsecureAllowed || InsecureLink.isLoopback(host))
        else {
            throw SetupError(
                .invalid, "not an https URL (http beyond loopback needs ALLOW_INSECURE=jwks)")
        }
        // NIO traps on other numbers.
        guard (1...65_535).contains(url.port ?? 443) else {
            throw SetupError(.invalid, "not a URL with a port from 1 to 65535")
        }
        self.url = text
        self.outgoing = outgoing
    }

    /// How long a whole fetch may take.
    static let deadline = Duration.seconds(5)
    /// The maximum size of a document in bytes.
    static let maxSize = 512 * 1024

    /// Fetches the document. Redirects are not followed, because they could lead away from https.
    ///
    /// - Parameter deadline: how long the whole fetch may take.
    func fetch(within deadline: Duration = Self.deadline) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { try await request() }
            group.addTask {
                // The client's own deadline covers only the head of the response.
                try await Task.sleep(for: deadline)
                throw SetupError(.unreadable, "no complete response within \(deadline)")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private func request() async throws -> [UInt8] {
        // A new client for each fetch, every few minutes, so that there is none to shut down.
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: OutgoingTLS.configuration(trusting: outgoing.authorities),
            redirectConfiguration: .disallow)
        configuration.proxy = outgoing.proxy(to: url)?.setting
        configuration.timeout = .init(connect: .seconds(3), read: .seconds(4))
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
            let response = try await client.execute(request, timeout: .seconds(5))
            guard response.status == .ok else {
                throw SetupError(.unreadable, "the response is \(response.status.code)")
            }
            return Array(buffer: try await response.body.collect(upTo: Self.maxSize, within: .seconds(5)))
        }
    }
}
