extension SecurePushClient {
    /// How much of a secret is handed to the system.
    enum Appearance: Sendable {
        case secret(SecretNotification)
        /// The app shows the secret.
        case generic(GenericNotice)

        var text: ShownReport.Text {
            switch self {
            case .secret: .secret
            case .generic: .generic
            }
        }
    }

    /// Decides how much of a secret is handed to the system, by the stricter `display` of sender and app.
    func appearance(of secret: SecretNotification) async -> Appearance {
        var secret = secret
        secret.display = max(secret.display, configuration.display)
        if secret.message != nil {
            switch secret.display {
            case .full: return .secret(secret)
            case .redacted: if await presenter.hidesWhileLocked() { return .secret(secret) }
            case .app: break
            }
        }
        return .generic(GenericNotice(id: secret.id, localizationKey: configuration.texts.inApp, code: nil))
    }

    /// Fetches the secret of a push for the app, without showing anything. The server marks it as read, and it counts as
    /// shown.
    ///
    /// - Returns: `nil` if there is nothing to show: the push is a withdrawal, which has been carried out, or the secret
    ///   was shown or withdrawn before.
    /// - Throws: ``SecurePushFailure``: `SP-SIGNATURE` and the like if the push is not genuine. What could not be fetched
    ///   waits for ``catchUp()``.
    public func secret(for push: IncomingPush) async throws -> SecretNotification? {
        guard push.isSecurePush else { throw SecurePushFailure(code: .malformedPush) }
        var wake = begin()
        let secret: SecretNotification?
        switch await receive(push, in: &wake) {
        case .locked: throw SecurePushFailure(code: .locked)
        case .ignored(let code): throw SecurePushFailure(code: code)
        case .unverified: throw SecurePushFailure(code: .credentials)
        case .unusable: throw SecurePushFailure(code: .malformedPush)
        case .withdrawn:
            await confirmWithdrawals(until: wake.deadline)
            secret = nil
        case .settled: secret = nil
        case .wanted(let id):
            switch await acquire(id, in: wake, until: wake.deadline) {
            case .secret(let found, let unread):
                if let unread { await setBadge(unread) }
                await settle(id, isShown: true, in: wake)
                secret = found
            case .settled: secret = nil
            case .failed(let code, let isGone):
                if isGone { _ = try? await keeper.update { $0.ledger.markNoticed(id, isGone: true) } }
                throw SecurePushFailure(code: code)
            case .closed(let code):
                _ = try? await keeper.update { $0.ledger.markNoticed(id, isGone: true) }
                throw SecurePushFailure(code: code)
            case .loggedOut(let code): throw SecurePushFailure(code: code)
            case .locked: throw SecurePushFailure(code: .locked)
            }
        }
        Task { [wake] in await end(wake) }
        return secret
    }
}
