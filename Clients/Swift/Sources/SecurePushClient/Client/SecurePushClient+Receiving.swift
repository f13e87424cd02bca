import Foundation

extension SecurePushClient {
    /// The result of reading a push.
    enum Reception: Sendable {
        /// The notification is to be fetched.
        case wanted(PushID)
        /// It was shown or withdrawn before.
        case settled
        /// The push was a withdrawal, which has been carried out.
        case withdrawn
        /// The push has no ID that can be used.
        case unusable
        /// The push is not genuine: nothing is asked and nothing is shown.
        case ignored(DiagnosticCode)
        /// The store cannot be read before the first unlock.
        case locked
    }

    /// Verifies a push and notes its notification, before anything is asked.
    func receive(_ push: IncomingPush) async -> Reception {
        do {
            let owner = try await adoptUser()
            if let code = try await fault(of: push, owner: owner) { return .ignored(code) }
            guard let id = push.id else { return .unusable }
            if push.isWithdrawal {
                try await withdraw(id)
                return .withdrawn
            }
            let (now, limits) = (clock.date.timeIntervalSince1970, configuration.limits)
            await resolveInDoubtClaims()
            return try await keeper.update { $0.ledger.learn(id, at: now, limits) } ? .wanted(id) : .settled
        } catch {
            return .locked
        }
    }

    /// Carries out a withdrawal. The prompt goes too, if nothing else waits behind it.
    ///
    /// - Throws: ``ClientStoreError/locked``.
    private func withdraw(_ id: PushID) async throws {
        let (now, limits) = (clock.date.timeIntervalSince1970, configuration.limits)
        let (isRemoved, isPromptOver) = try await keeper.update { state in
            let isRemoved = state.withdraw(id, at: now, limits)
            let isPromptOver = state.isPrompted && state.ledger.waiting.isEmpty
            if isPromptOver { state.isPrompted = false }
            return (isRemoved, isPromptOver)
        }
        if isRemoved { await presenter.remove([id]) }
        if isPromptOver { await presenter.removePrompt() }
    }

    /// Notes the user who is logged in. Another user's notifications are removed from the screen.
    ///
    /// - Returns: the user to whom the device belongs, also after the credentials have expired.
    /// - Throws: ``ClientStoreError/locked``.
    @discardableResult
    func adoptUser() async throws -> String? {
        let state = try await keeper.read()
        guard let userName = await credentials.userName(), userName != state.owner else { return state.owner }
        let ids = try await keeper.update { $0.adopt(userName) }
        if !ids.isEmpty {
            await presenter.remove(ids)
            await presenter.removePrompt()
        }
        return userName
    }

    /// Why a push is to be ignored; `nil` if it is genuine, or if pushes are not signed.
    ///
    /// - Throws: ``ClientStoreError/locked``.
    private func fault(of push: IncomingPush, owner: String?) async throws -> DiagnosticCode? {
        guard let configured = configuration.pushKeys else { return nil }
        guard let owner else { return .badSignature }
        let stored = configuration.refreshesPushKeys ? try await keeper.read().pushKeys : nil
        for keys in [configured, stored].compactMap(\.self) {
            let verifier = PushVerifier(keys: keys, maxAge: configuration.limits.maxPushAge)
            switch verifier.fault(of: push, for: owner, at: clock.date) {
            case nil: return nil
            case DiagnosticCode.tooOld: return .tooOld
            default: continue
            }
        }
        return .badSignature
    }

    /// Asks the presenter for the secrets that another process was about to show when it ended: those that the user
    /// sees are shown, the others are fetched again.
    func resolveInDoubtClaims() async {
        let (now, limits) = (clock.date.timeIntervalSince1970, configuration.limits)
        let claims = try? await keeper.read().ledger.claims(besides: process, at: now, limits)
        guard let inDoubt = claims?.filter({ $0.secondsLeft == 0 }), !inDoubt.isEmpty else { return }
        let displayed = await presenter.displayedSecrets() ?? []
        var withdrawn: [PushID] = []
        for claim in inDoubt {
            let isShown = displayed.contains(claim.id)
            let end = try? await keeper.update { state in
                let end = state.ledger.settle(claim.id, of: claim.process, isShown: isShown, at: now)
                if isShown, end == .noted { state.report(claim.id) }
                return end
            }
            if end == .withdrawn { withdrawn.append(claim.id) }
        }
        if !withdrawn.isEmpty { await presenter.remove(withdrawn) }
    }

    /// Asks the server for the notifications that were withdrawn after this device was the first to read them. Those
    /// that are gone are removed from the screen; the others were withdrawn from the user's other devices only.
    ///
    /// One wake does this for all wakes at the same time. A failure ends it until the next wake.
    func confirmWithdrawals(until deadline: TimeInterval) async {
        guard !isConfirming else { return }
        isConfirming = true
        defer { isConfirming = false }
        let (now, limits) = (clock.date.timeIntervalSince1970, configuration.limits)
        // A store that cannot be written keeps an ID, so it is asked for once.
        var asked: Set<PushID> = []
        while let id = try? await keeper.read().unconfirmed.first(where: { !asked.contains($0) }) {
            asked.insert(id)
            // HEAD marks nothing as read and returns no secret.
            let call = RetrievalCall(method: "HEAD", path: "api/notifications/\(id)")
            let isGone: Bool
            switch await connection.send(call, until: deadline) {
            case .success: isGone = false
            case .refused(403), .refused(404), .refused(410): isGone = true
            case .refused, .failed, .loggedOut, .locked: return
            }
            _ = try? await keeper.update { state in
                state.unconfirmed.removeAll { $0 == id }
                if isGone { state.ledger.withdraw(id, at: now, limits) }
            }
            if isGone { await presenter.remove([id]) }
        }
    }
}
