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
        /// The signature cannot be checked, because the store with the user's name cannot be read.
        case unverified
        /// The store cannot be read before the first unlock.
        case locked
    }

    /// Verifies a push and notes its notification, before anything is asked.
    ///
    /// - Parameter wake: it begins for the user who is logged in now.
    func receive(_ push: IncomingPush, in wake: inout Wake) async -> Reception {
        do {
            let owner = try await adoptUser()
            let userChanges = owner.changes
            wake.userChanges = userChanges
            if owner.name == nil, configuration.pushKeys != nil, await keeper.isBlind { return .unverified }
            if let code = try await fault(of: push, owner: owner.name, in: wake) { return .ignored(code) }
            guard let id = push.id else { return .unusable }
            if push.isWithdrawal {
                try await withdraw(id)
                return .withdrawn
            }
            let (now, limits) = (clock.uptime, configuration.limits)
            await resolveInDoubtClaims()
            let isWanted = try await keeper.update { state in
                state.userChanges <= userChanges && state.ledger.learn(id, at: now, limits)
            }
            return isWanted ? .wanted(id) : .settled
        } catch {
            return .locked
        }
    }

    /// Carries out a withdrawal. The prompt goes too, if nothing else waits behind it.
    ///
    /// Without keys for pushes, anybody at the push service could have written it, so the server is asked first.
    ///
    /// - Throws: ``ClientStoreError/locked``.
    private func withdraw(_ id: PushID) async throws {
        let (now, limits, isSigned) = (clock.uptime, configuration.limits, areWithdrawalsSigned)
        let (isRemoved, isPromptOver) = try await keeper.update { state in
            (state.withdraw(id, isSigned: isSigned, at: now, limits), state.endEmptyPrompt())
        }
        if isRemoved { await presenter.remove([id]) }
        if isPromptOver { await presenter.removePrompt() }
    }

    /// Notes the user who is logged in. Another user's notifications are removed from the screen.
    ///
    /// - Returns: the user to whom the device belongs, also after the credentials have expired, and
    ///   ``ClientState/userChanges``.
    /// - Throws: ``ClientStoreError/locked``.
    @discardableResult
    func adoptUser() async throws -> (name: UserName?, changes: Int) {
        await finishLogOuts()
        let state = try await keeper.read()
        guard let userName = await currentUserName().map({ UserName($0) }), userName != state.owner else {
            return (state.owner, state.userChanges)
        }
        let (ids, userChanges) = try await keeper.update { ($0.adopt(userName), $0.userChanges) }
        if !ids.isEmpty {
            await presenter.remove(ids)
            await presenter.removePrompt()
        }
        return (userName, userChanges)
    }

    /// Whether the server has signed the withdrawal.
    var areWithdrawalsSigned: Bool { configuration.pushKeys != nil }

    /// Why a push is to be ignored; `nil` if it is genuine, or if pushes are not signed.
    ///
    /// After a signature by an unknown key the server's keys are read once more, at most once an hour: it may have had
    /// to replace a stolen key at once.
    ///
    /// - Throws: ``ClientStoreError/locked``.
    private func fault(of push: IncomingPush, owner: UserName?, in wake: Wake) async throws -> DiagnosticCode? {
        guard let configured = configuration.pushKeys else { return nil }
        guard let owner else { return .badSignature }
        var verdict = try await verdict(of: push, owner, configured)
        if verdict == .unknownKey, await readPushKeysForUnknownKey(until: wake.deadline) {
            verdict = try await self.verdict(of: push, owner, configured)
        }
        switch verdict {
        case .genuine: return nil
        case .refused(let code): return code
        case .unknownKey: return .badSignature
        }
    }

    private func verdict(
        of push: IncomingPush, _ owner: UserName, _ configured: PushKeySet
    ) async throws -> PushVerifier.Verdict {
        // The server may have removed a configured key, because it was stolen.
        let stored = configuration.refreshesPushKeys ? try await keeper.read().pushKeys : nil
        let verifier = PushVerifier(keys: stored ?? configured, maxAge: configuration.limits.maxPushAge)
        return verifier.verdict(of: push, for: owner.text, at: clock.date)
    }

    /// Removes what has expired, and asks the presenter for the secrets that another process was about to show when it
    /// ended: those that the user sees are shown, the others are fetched again.
    func resolveInDoubtClaims() async {
        let ledger = try? await keeper.read().ledger
        await removeExpired(in: ledger)
        // Read the clock after the store: a claim in the future would count as expired.
        let (now, limits) = (clock.uptime, configuration.limits)
        let claims = ledger?.claims(besides: process, at: now, limits)
        guard let inDoubt = claims?.filter({ $0.secondsLeft == 0 }), !inDoubt.isEmpty else { return }
        let displayed = await presenter.displayedSecrets() ?? []
        var withdrawn: [PushID] = []
        for claim in inDoubt {
            let isShown = displayed.contains(claim.id)
            let end = try? await keeper.update { state in
                let end = state.ledger.settle(claim.id, of: claim.process, isShown: isShown, at: now)
                if isShown, end == .noted { state.report(ShownReport(claim.id)) }
                return end
            }
            if end == .withdrawn { withdrawn.append(claim.id) }
        }
        if !withdrawn.isEmpty { await presenter.remove(withdrawn) }
    }

    private func removeExpired(in ledger: SecretLedger?) async {
        let now = clock.date.timeIntervalSince1970
        guard let ledger, ledger.hasExpired(at: now),
            let ids = try? await keeper.update({ $0.ledger.takeExpired(at: now) })
        else { return }
        await presenter.remove(ids)
    }

    /// Asks the server for the notifications that were withdrawn after this device may have been the first to read
    /// them. Those that are gone are removed from the screen. The others were withdrawn from the user's other devices
    /// only: they stay on the screen, or are still fetched.
    ///
    /// Those that are being fetched now are left to the fetch, whose answer says who has read them.
    ///
    /// Only one wake at a time does this. After a failure the next wake goes on.
    func confirmWithdrawals(until deadline: TimeInterval) async {
        guard !isConfirming else { return }
        isConfirming = true
        defer { isConfirming = false }
        // A store that cannot be written keeps an ID, so it is asked for once.
        var asked: Set<PushID> = []
        while let ids = try? await keeper.read().unconfirmed,
            let id = ids.first(where: { !asked.contains($0) && !inFlight.contains($0) })
        {
            asked.insert(id)
            // HEAD marks nothing as read and returns no secret.
            let call = RetrievalCall(method: "HEAD", path: "api/notifications/\(id)")
            switch await connection.send(call, until: deadline) {
            case .success: _ = try? await keeper.update { $0.unconfirmed.removeAll { $0 == id } }
            case .refused(403), .refused(404), .refused(410): await endWithdrawn(id)
            case .refused, .failed, .loggedOut, .locked: return
            }
        }
    }

    /// Ends a notification whose withdrawal the server has confirmed.
    ///
    /// - Returns: whether there was a withdrawal to confirm.
    @discardableResult
    func endWithdrawn(_ id: PushID) async -> Bool {
        let (now, limits) = (clock.uptime, configuration.limits)
        let isPromptOver = try? await keeper.update { state -> Bool? in
            guard state.unconfirmed.contains(id) else { return nil }
            state.endWithdrawn(id, at: now, limits)
            return state.endEmptyPrompt()
        }
        guard let isPromptOver else { return false }
        await presenter.remove([id])
        if isPromptOver { await presenter.removePrompt() }
        return true
    }
}
