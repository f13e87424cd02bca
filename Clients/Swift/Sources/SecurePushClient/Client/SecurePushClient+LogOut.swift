import Foundation

/// The log-out: the device forgets the user first, and tells the server when it can be reached.
///
/// 1. One write to the store ends the session and notes the ``Departure``. A process that dies later leaves no session.
/// 2. Screen, ledger, registration and key are removed. If the process dies, the next wake does this before anything
///    else.
/// 3. The server removes the installation and ends the session, now or at a later wake of the next 24 hours. A log-in
///    does not wait for that.
extension SecurePushClient {
    /// Logs the user out, also without a network: the device forgets the user at once, and the server is told later if
    /// it cannot be reached now. A refresh of the credentials that ends later does not bring the session back.
    ///
    /// The credentials are removed from the client's store. An app with a ``CredentialsProvider`` of its own ends its
    /// own session after this call.
    ///
    /// - Returns: whether the server has removed the device. It takes at most ``ClientLimits/secondsPerTry`` longer than
    ///   the rest.
    /// - Throws: ``SecurePushFailure`` if the store cannot be written, so that the user is still logged in.
    @discardableResult
    public func logOut() async throws -> Bool {
        try await afterLastRegistration { client in try await client.leave(endsSession: true) }
    }

    /// Removes the device from the server and forgets the user's notifications, but not the credentials. Use it when the
    /// user stays logged in and wants no pushes; the log-out is ``logOut()``.
    ///
    /// - Returns: whether the server has removed the device. If not, a later wake tries again.
    /// - Throws: ``SecurePushFailure`` if the store cannot be written.
    @discardableResult
    public func unregister() async throws -> Bool {
        try await afterLastRegistration { client in try await client.leave(endsSession: false) }
    }

    func leave(endsSession: Bool) async throws -> Bool {
        let deadline = begin().deadline
        do { try await adoptUser() } catch { throw SecurePushFailure(code: .locked) }
        try await forgetInstallationOfOtherDevice()
        let state = try await readState()
        var departure = Departure(
            id: UUID(), user: state.owner, installationID: state.registration.installationID,
            retrievalURL: configuration.retrievalURL, leftAt: clock.date.timeIntervalSince1970)
        do {
            departure =
                try await changeDepartures { [departure] in
                    $0.leaving(departure, endsSession: endsSession)
                }?.last ?? departure
        } catch  where !endsSession {
            // Without the record there is no second try.
        }
        try await forgetUser(of: departure)
        let end = min(deadline, clock.uptime + configuration.limits.secondsPerTry)
        if await deliver(departure, until: end) == .done { return true }
        if departure.accessToken == nil { await keepToken(for: departure.id) }
        return false
    }

    /// Keeps the token of an app's own session for the removal.
    private func keepToken(for id: UUID) async {
        let credentials = try? await TimeLimit.run(until: clock.uptime + 1, on: clock) { [credentials] in
            try await credentials.credentials()
        }
        guard case .bearer(let token)? = credentials else { return }
        await note(id) { $0.with(token, nil) }
    }

    private func readState() async throws -> ClientState {
        do { return try await keeper.read() } catch { throw SecurePushFailure(code: .locked) }
    }

    /// Finishes log-outs whose process ended before the user's data was removed.
    func finishLogOuts() async {
        let stored = try? await limit.run { [store] in try await store.credentials() }
        for departure in stored?.departures ?? [] where !departure.isForgotten {
            // A failure keeps the record, so the next wake tries again.
            try? await forgetUser(of: departure)
        }
    }

    /// Tells the server of log-outs. Only one wake at a time does this.
    func deliverDepartures(until deadline: TimeInterval) async {
        guard !isDelivering, clock.uptime < deadline else { return }
        isDelivering = true
        defer { isDelivering = false }
        let stored = try? await limit.run { [store] in try await store.credentials() }
        for departure in stored?.departures ?? [] where departure.isForgotten {
            if departure.isOver(at: clock.date) {
                await note(departure.id) { _ in nil }
            } else {
                _ = await deliver(departure, until: min(deadline, clock.uptime + Self.secondsForDeparture))
            }
        }
    }

    /// Removes the data of a user who has logged out. It can be repeated.
    ///
    /// - Throws: ``SecurePushFailure`` if some of the data may be left.
    private func forgetUser(of departure: Departure) async throws {
        let state = try await readState()
        let owner = state.owner
        // Another process has done it, and another user has logged in since.
        if let owner, let user = departure.user, owner != user { return await note(departure.id) { $0.forgotten } }
        // The ledger is cleared last: after a crash it still lists the notifications on the screen.
        let known = state.ledger.entries.map(\.id)
        await presenter.remove(known + (await presenter.displayedSecrets() ?? []).filter { !known.contains($0) })
        await presenter.removePrompt()
        let ids = try await stored { state -> [PushID]? in
            guard state.owner == owner else { return nil }
            state.registration = RegistrationRecord()
            return state.forget(newOwner: nil)
        }
        guard let ids else { return }
        await presenter.remove(ids)
        await setBadge(0)
        try await forgetKeys()
        await note(departure.id) { $0.forgotten }
    }

    private enum Delivery { case done, later }

    /// Asks the server to remove the installation and to end the session.
    private func deliver(_ departure: Departure, until deadline: TimeInterval) async -> Delivery {
        // The session goes on after `unregister()`, and the user may have logged in again.
        let userName = await currentUserName().map { UserName($0) }
        let isLoggedIn =
            userName != nil && userName == departure.user && departure.retrievalURL == configuration.retrievalURL
        let left = DepartedCredentials(departure, service(of: departure)) { [weak self] renewed in
            await self?.note(departure.id) { $0.with(renewed.accessToken, renewed.refreshToken) }
        }
        if let id = departure.installationID {
            var connection = connection
            if !isLoggedIn { connection = connection.to(departure.retrievalURL, with: left) }
            let call = RetrievalCall(method: "DELETE", path: Self.path(of: id), success: 204)
            switch await connection.send(call, until: deadline) {
            case .success, .refused(404), .refused(410): break
            // Without a token, the record waits until the same user logs in.
            case .loggedOut(.status(401)) where !isLoggedIn: await note(departure.id) { _ in nil }; return .later
            case .loggedOut, .refused, .failed, .locked: return .later
            }
        }
        if let token = await left.refreshToken, await !service(of: departure).end(token) { return .later }
        await note(departure.id) { _ in nil }
        return .done
    }

    private func service(of departure: Departure) -> TokenService {
        TokenService(retrievalURL: departure.retrievalURL, transport: connection.transport, clock: clock)
    }

    /// Changes the record of a log-out; `nil` removes it. If that fails, a later wake does it again.
    private func note(_ id: UUID, _ change: @escaping @Sendable (Departure) -> Departure?) async {
        _ = try? await changeDepartures { $0.changing(id, change) }
    }

    @discardableResult
    private func changeDepartures(
        _ change: @escaping @Sendable (StoredCredentials?) -> StoredCredentials?
    ) async throws -> [Departure]? {
        do {
            return try await limit.run { [store] in try await store.changeCredentials(change) }.after?.departures
        } catch {
            throw SecurePushFailure(code: error as? ClientStoreError == .locked ? .locked : .credentials)
        }
    }

    /// The longest time for one log-out at the end of a wake, in seconds.
    private static let secondsForDeparture: TimeInterval = 5
}

extension Departure {
    fileprivate var forgotten: Departure {
        var copy = self
        copy.isForgotten = true
        return copy
    }

    fileprivate func with(_ accessToken: String?, _ refreshToken: String?) -> Departure {
        var copy = self
        (copy.accessToken, copy.refreshToken) = (accessToken, refreshToken)
        return copy
    }
}

/// The credentials of a user who has logged out, for the requests of the log-out.
private actor DepartedCredentials: CredentialsProvider {
    private var departure: Departure
    private let service: TokenService
    private let keep: @Sendable (Departure) async -> Void

    init(_ departure: Departure, _ service: TokenService, keep: @escaping @Sendable (Departure) async -> Void) {
        (self.departure, self.service, self.keep) = (departure, service, keep)
    }

    var refreshToken: String? { departure.refreshToken }

    func userName() async -> String? { departure.user?.text }

    func credentials() async throws -> ClientCredentials? { departure.accessToken.map { .bearer($0) } }

    func refresh(after refused: ClientCredentials) async throws -> ClientCredentials? {
        guard let token = departure.refreshToken else { return nil }
        let renewed = try await service.refresh(token, of: "")
        (departure.accessToken, departure.refreshToken) = (renewed?.accessToken, renewed?.refreshToken)
        await keep(departure)
        return renewed?.current
    }
}
