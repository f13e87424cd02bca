import Foundation

extension SecurePushClient {
    /// The result of a fetch and of the claim of the right to show the secret.
    enum Acquisition: Sendable {
        /// The caller shows it and then calls ``settle(_:isShown:in:)``.
        case secret(SecretNotification, unread: Int?)
        /// It was shown or withdrawn, another wake or process is about to show it, or the user has changed.
        case settled
        /// The fetch failed. `isGone`: the server does not give the notification to this user.
        case failed(DiagnosticCode, isGone: Bool)
        /// It is end-to-end encrypted, and this device will never open it.
        case closed(DiagnosticCode)
        /// The user has to log in.
        case loggedOut(DiagnosticCode)
        /// The credentials cannot be read before the first unlock.
        case locked
    }

    /// Fetches a notification of a push and shows it, or the generic text, or the prompt.
    func fetchAndShow(_ id: PushID, in wake: Wake) async -> WakeReport {
        let acquisition = await acquire(id, in: wake, until: wake.deadline)
        let report = await finish(acquisition, id, in: wake)
        // The secret comes first: it matters more than the badge.
        if case .secret(_, let unread?) = acquisition { await setBadge(unread) }
        return report
    }

    /// Fetches a secret and claims it. A claimed secret stays in flight until ``settle(_:isShown:in:)``.
    func acquire(_ id: PushID, in wake: Wake, until deadline: TimeInterval) async -> Acquisition {
        guard inFlight.insert(id).inserted else { return .settled }
        let acquisition = endFlight(of: id, unlessClaimed: await fetch(id, in: wake, until: deadline))
        if case .secret = acquisition { return acquisition }
        // A failure is not shown after the user has changed.
        return await isCurrent(wake) ? acquisition : .settled
    }

    /// Claims a secret that has come with others. A claimed secret stays in flight until
    /// ``settle(_:isShown:in:)``.
    func acquire(
        _ secret: SecretNotification, _ request: FetchRequest, until deadline: TimeInterval
    ) async -> Acquisition {
        guard inFlight.insert(secret.id).inserted else { return .settled }
        let acquisition = await openAndClaim(secret, unread: nil, request, until: deadline)
        return endFlight(of: secret.id, unlessClaimed: acquisition)
    }

    private func endFlight(of id: PushID, unlessClaimed acquisition: Acquisition) -> Acquisition {
        if case .secret = acquisition { return acquisition }
        inFlight.remove(id)
        return acquisition
    }

    private func fetch(_ id: PushID, in wake: Wake, until deadline: TimeInterval) async -> Acquisition {
        let call = RetrievalCall(
            path: "api/notifications/\(id)", query: [("include", "unread")])
        guard var request = try? await keeper.update({ $0.request(id) }) else { return .locked }
        if request.userChanges > wake.userChanges {
            await forget([id: request])
            return .settled
        }
        let (outcome, lost) = await connection.sendCounting(call, until: deadline)
        if lost == 0 { await forgetRefused(outcome, [id: request]) }
        switch outcome {
        case .success(let response):
            do throws(InvalidAnswer) {
                let answer = try SecretAnswer(response.body, for: id)
                if lost > 0 { request.isRepeated = true }
                return await openAndClaim(answer.secret, unread: answer.unread, request, until: deadline)
            } catch {
                return .failed(error.code, isGone: false)
            }
        case .refused(let status):
            let isGone = [403, 404, 410].contains(status)
            // This answer confirms or refutes a withdrawal that waits for the server.
            if isGone, await endWithdrawn(id) { return .settled }
            return .failed(.status(status), isGone: isGone)
        case .failed(let code): return .failed(code, isGone: false)
        case .loggedOut(let code): return .loggedOut(code)
        case .locked: return .locked
        }
    }

    /// Notes after a request without a success, of which no try was lost, that the server has marked nothing as read.
    func forgetRefused(_ outcome: RetrievalConnection.Outcome, _ requests: [PushID: FetchRequest]) async {
        if case .success = outcome { return }
        await forget(requests)
    }

    /// Notes that the server has marked nothing as read for requests.
    func forget(_ requests: [PushID: FetchRequest]) async {
        guard !requests.isEmpty else { return }
        _ = try? await keeper.update { state in
            for (id, request) in requests { state.unrequest(id, request) }
        }
    }

    /// Opens a secret and claims it.
    private func openAndClaim(
        _ secret: SecretNotification, unread: Int?, _ request: FetchRequest, until deadline: TimeInterval
    ) async -> Acquisition {
        switch await open(secret) {
        case .opened(let opened) where hasExpired(opened): await close(secret, .expired, request, until: deadline)
        case .opened(let opened): await claim(opened, unread: unread, request, until: deadline)
        case .closed(let code): await close(secret, code, request, until: deadline)
        case .failed(let code): .failed(code, isGone: false)
        case .locked: .locked
        }
    }

    /// Notes that this device has read a secret that it will never open. So the withdrawal that follows when the first
    /// of the user's devices has read it does not remove the generic text of that device.
    private func close(
        _ secret: SecretNotification, _ code: DiagnosticCode, _ request: FetchRequest, until deadline: TimeInterval
    ) async -> Acquisition {
        let claim = await claim(secret, unread: nil, request, until: deadline)
        guard case .secret = claim else { return claim }
        let (now, process) = (clock.uptime, process)
        let end = try? await keeper.update {
            $0.ledger.settle(secret.id, of: process, isShown: false, at: now)
        }
        switch end {
        case .noted: return .closed(code)
        case .withdrawn, .lost: return .settled
        case nil: return .locked
        }
    }

    /// Claims a secret, and waits for another process that has claimed it.
    private func claim(
        _ secret: SecretNotification, unread: Int?, _ request: FetchRequest, until deadline: TimeInterval
    ) async -> Acquisition {
        let (process, limits, clock, isSigned) = (process, configuration.limits, clock, areWithdrawalsSigned)
        while true {
            let claim = try? await keeper.update { state in
                state.claim(
                    secret, of: request, by: process, areWithdrawalsSigned: isSigned, at: clock.uptime, limits)
            }
            switch claim {
            case .granted: return .secret(secret, unread: unread)
            case .held(let seconds) where clock.uptime + seconds < deadline:
                // If the other process dies now, this one shows the secret.
                guard (try? await clock.sleep(for: seconds)) != nil else { return .settled }
            case .withdrawn:
                await presenter.remove([secret.id])
                return .settled
            case .settled, .held: return .settled
            case .inDoubt: await resolveInDoubtClaims()
            case nil: return .locked
            }
        }
    }

    func hasExpired(_ secret: SecretNotification) -> Bool {
        secret.expiresAt.map { $0 <= clock.date } ?? false
    }

    /// Notes that a claimed secret was shown, or that it waits for the next wake.
    ///
    /// - Parameter text: what the user sees.
    func settle(_ id: PushID, isShown: Bool, as text: ShownReport.Text = .secret, in wake: Wake) async {
        let (now, process) = (clock.uptime, process)
        let end = try? await keeper.update { state in
            if state.userChanges > wake.userChanges { return SecretLedger.End.withdrawn }
            let end = state.ledger.settle(id, of: process, isShown: isShown, at: now)
            if isShown {
                state.report(ShownReport(id, text))
                state.ledger.markInAppOnly(id, text == .generic)
            }
            return end
        }
        inFlight.remove(id)
        // It was withdrawn, or the user changed, while it was shown.
        if end == .withdrawn { await presenter.remove([id]) }
    }

    /// Shows the secret, the generic text or the prompt by the presenter.
    func finish(_ acquisition: Acquisition, _ id: PushID, in wake: Wake) async -> WakeReport {
        switch acquisition {
        case .settled: return WakeReport()
        case .secret(let secret, _):
            let appearance = await appearance(of: secret)
            do {
                switch appearance {
                case .secret(let secret): try await presenter.show(secret)
                case .generic(let notice): try await presenter.show(notice)
                }
            } catch {
                await settle(id, isShown: false, in: wake)
                guard await isCurrent(wake) else { return WakeReport() }
                return await notice(id, .notPresented, isGone: false)
            }
            await settle(id, isShown: true, as: appearance.text, in: wake)
            return WakeReport(result: .newData, shown: appearance.text == .secret ? [id] : [])
        case .failed(let code, let isGone): return await notice(id, code, isGone: isGone)
        case .closed(let code): return await notice(id, code, isGone: true)
        case .loggedOut(let code): return await prompt([id], code)
        case .locked:
            return await showLockedNotice()
        }
    }

    /// Shows the generic text, once per notification.
    private func notice(_ id: PushID, _ code: DiagnosticCode, isGone: Bool) async -> WakeReport {
        let isShown = !isGone || code.isOfEnvelope || configuration.showsNoticeWhenGone
        if await noteNotice(id, code, isGone: isGone, isShown: isShown), isShown {
            await show(genericNotice(id, code))
        }
        return WakeReport(result: .failed, waiting: isGone ? [] : [id], code: code)
    }

    /// Notes that the user sees the generic text, and that the server is to be told, unless it does not have the
    /// notification.
    ///
    /// - Returns: whether it is the first time.
    @discardableResult
    func noteNotice(_ id: PushID, _ code: DiagnosticCode, isGone: Bool, isShown: Bool = true) async -> Bool {
        let isFirst = try? await keeper.update { state in
            let isFirst = state.ledger.markNoticed(id, isGone: isGone)
            let isThere = !isGone || code.isOfEnvelope || code == .expired
            if isFirst, isShown, isThere { state.report(ShownReport(id, .generic, code: code)) }
            return isFirst
        }
        return isFirst ?? true
    }

    /// Asks the user to log in, once more for each new notification.
    func prompt(_ ids: [PushID], _ code: DiagnosticCode) async -> WakeReport {
        let (prompt, isNew) = await notePrompt(for: ids, code)
        if isNew, !prompt.ids.isEmpty { try? await presenter.show(prompt) }
        return WakeReport(result: .failed, waiting: ids, code: code)
    }

    /// Notes that the user is asked to log in.
    ///
    /// - Returns: the prompt for everything that waits, and whether the user has not seen one for all of these IDs yet.
    func notePrompt(for ids: [PushID], _ code: DiagnosticCode) async -> (prompt: LogInPrompt, isNew: Bool) {
        let noted = try? await keeper.update { state in
            var isNew = false
            for id in ids where state.ledger.markNoticed(id) { isNew = true }
            state.isPrompted = true
            return (waiting: state.ledger.waiting, isNew: isNew)
        }
        let prompt = LogInPrompt(
            ids: noted?.waiting ?? ids, localizationKey: configuration.texts.logIn, code: code)
        return (prompt, noted?.isNew ?? false)
    }
}
