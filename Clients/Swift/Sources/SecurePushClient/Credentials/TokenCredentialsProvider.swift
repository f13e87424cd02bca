public import Foundation

/// Credentials from `POST /api/token`: a token for the user's password, renewed with its refresh token where the server
/// gives one (`AUTH_REFRESH_TTL`).
///
/// They are kept in the store, which the app and its extension share. Only one of them refreshes at a time, because a
/// refresh token that is used twice ends the session (RFC 9700, section 4.14).
public actor TokenCredentialsProvider {
    private let service: TokenService
    private let store: any ClientStore
    private let clock: any ClientClock
    private let keepsPassword: Bool
    /// Limits the time of each call of the store.
    nonisolated let limit: CallLimit
    private let process = UUID().uuidString
    private var refreshing: Task<ClientCredentials?, any Error>?

    /// Makes a provider.
    ///
    /// - Parameters:
    ///   - retrievalURL: as in ``SecurePushConfiguration``.
    ///   - store: the client's store.
    ///   - transport: the client's transport.
    ///   - clock: the client's clock.
    ///   - keepsPassword: whether the store keeps the password if the server issues no tokens
    ///     (`AUTH_TOKEN_SIGNING_KEY_FILE`). Without it, such a log-in fails with `SP-404`.
    public init(
        retrievalURL: URL, store: any ClientStore, transport: any Transport,
        clock: any ClientClock = SystemClientClock(), keepsPassword: Bool = false
    ) {
        service = TokenService(retrievalURL: retrievalURL, transport: transport, clock: clock)
        self.store = store
        self.clock = clock
        self.keepsPassword = keepsPassword
        limit = CallLimit(on: clock)
    }

    /// Logs a user in with a password, which is not stored unless `keepsPassword` says so.
    ///
    /// - Throws: ``SecurePushFailure``, with `SP-401` for a wrong password; ``ClientStoreError``.
    public func logIn(userName: String, password: String) async throws {
        let session = try await service.logIn(userName: userName, password: password, keepsPassword: keepsPassword)
        try await begin(session)
    }

    /// Logs a user in with a token of an identity provider.
    ///
    /// - Parameter expiresAt: when the token expires, if that is known.
    /// - Throws: ``ClientStoreError``.
    public func logIn(userName: String, token: String, expiresAt: Date? = nil) async throws {
        try await begin(
            StoredCredentials(userName: userName, accessToken: token, expiresAt: expiresAt?.timeIntervalSince1970))
    }

    /// Stores the credentials of a session that begins. A log-out that is not over goes on.
    private func begin(_ session: StoredCredentials) async throws {
        _ = try await bounded { store in
            try await store.changeCredentials { session.with($0?.departures) }
        }
    }

    /// Forgets the credentials, and ends the session at the server if it can be reached. Apps call
    /// ``SecurePushClient/logOut()``, which also forgets everything else.
    ///
    /// - Throws: ``ClientStoreError``.
    public func logOut() async throws {
        let change = try await bounded { store in try await store.changeCredentials { $0.ended() } }
        // The client needs the session until the server has removed the installation.
        guard let token = change.before?.refreshToken,
            !(change.after?.departures ?? []).contains(where: { $0.refreshToken == token })
        else { return }
        await service.end(token)
    }
}

extension TokenCredentialsProvider: CredentialsProvider {
    /// The user of the stored credentials; `nil` if there are none, or if the store cannot be read now.
    public func userName() async -> String? {
        (try? await stored())?.userName
    }

    /// The stored credentials. A token that has expired is renewed first.
    ///
    /// - Returns: `nil` if the user has to log in.
    /// - Throws: ``ClientStoreError``; ``SecurePushFailure`` if the token cannot be renewed now.
    public func credentials() async throws -> ClientCredentials? {
        guard let stored = try await stored() else { return nil }
        if stored.isUsable(at: clock.date) { return stored.current }
        guard stored.refreshToken != nil else { return nil }
        return try await refresh(after: stored.current)
    }

    /// Exchanges the refresh token for new credentials. Calls at the same time share one request, also those of the app
    /// and its service extension.
    ///
    /// - Returns: `nil` if the user has to log in.
    /// - Throws: ``ClientStoreError``; ``SecurePushFailure`` if the token cannot be renewed now.
    public func refresh(after refused: ClientCredentials) async throws -> ClientCredentials? {
        try await refresh(after: Optional(refused))
    }

    /// All callers that need new credentials at the same time share one exchange.
    private func refresh(after refused: ClientCredentials?) async throws -> ClientCredentials? {
        if let refreshing { return try await refreshing.value }
        let task = Task { try await exchange(refused) }
        refreshing = task
        defer { refreshing = nil }
        return try await task.value
    }

    /// Exchanges the refresh token, unless the other process has done so.
    private func exchange(_ refused: ClientCredentials?) async throws -> ClientCredentials? {
        try await takeLease()
        do {
            let result = try await exchangeWithLease(refused)
            await endLease()
            return result
        } catch {
            await endLease()
            throw error
        }
    }

    private func exchangeWithLease(_ refused: ClientCredentials?) async throws -> ClientCredentials? {
        guard let stored = try await stored() else { return nil }
        if let current = stored.current, current != refused, stored.isUsable(at: clock.date) { return current }
        var renewed: StoredCredentials?
        if let token = stored.refreshToken { renewed = try await service.refresh(token, of: stored.userName) }
        // If the server refuses the stored credentials for good, the name stays for the prompt.
        let next = renewed ?? StoredCredentials(userName: stored.userName)
        let change = try await bounded { store in
            try await store.changeCredentials { $0?.session == stored ? next.with($0?.departures) : $0 }
        }
        // The user may have logged out, or another one may have logged in. The next try finds the new credentials.
        guard change.before?.session == stored else {
            if let token = renewed?.refreshToken { await service.end(token) }
            throw SecurePushFailure(code: .credentials)
        }
        return renewed?.current
    }

    /// The stored credentials of the user; `nil` if nobody is logged in.
    private func stored() async throws -> StoredCredentials? {
        try await bounded { try await $0.credentials() }?.session
    }

    private func takeLease() async throws {
        while true {
            let (clock, process) = (clock, process)
            let isTaken = try await bounded { store in
                try await store.update { state in
                    // Read the clock now: a lease in the future would count as expired.
                    let (now, boot) = (clock.uptime, clock.bootID)
                    if let lease = state.refreshLease, lease.process != process, lease.boot == boot,
                        now - lease.takenAt >= 0, now - lease.takenAt < Self.leaseSeconds
                    {
                        return false
                    }
                    state.refreshLease = RefreshLease(process: process, takenAt: now, boot: boot)
                    return true
                }
            }
            if isTaken { return }
            try await clock.sleep(for: 0.25)
        }
    }

    /// If the store refuses, the lease expires.
    private func endLease() async {
        let process = process
        try? await bounded { store in
            try await store.update { if $0.refreshLease?.process == process { $0.refreshLease = nil } }
        }
    }

    /// Uses the store.
    ///
    /// - Throws: ``ClientStoreError/busy`` if it does not answer, and the errors of the store.
    private func bounded<Value: Sendable>(
        _ work: @escaping @Sendable (any ClientStore) async throws -> Value
    ) async throws -> Value {
        let store = store
        do { return try await limit.run { try await work(store) } } catch is CallLimit.Overdue {
            throw ClientStoreError.busy
        }
    }

    /// Longer than an exchange, whose time-out is 8 s.
    private static let leaseSeconds: Double = 10
}

extension StoredCredentials {
    /// The credentials for requests; `nil` if the user has to log in or the token has to be refreshed.
    var current: ClientCredentials? {
        if let accessToken { return .bearer(accessToken) }
        return password.map { .basic(userName: userName, password: $0) }
    }

    /// Whether there are credentials that have not expired. Half a minute before its end a token counts as expired.
    func isUsable(at date: Date) -> Bool {
        guard current != nil else { return false }
        return expiresAt.map { date.timeIntervalSince1970 < $0 - 30 || refreshToken == nil } ?? true
    }
}
