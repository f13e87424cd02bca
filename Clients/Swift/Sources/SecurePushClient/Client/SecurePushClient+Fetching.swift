import Foundation

extension SecurePushClient {
    /// The result of fetching a secret and claiming the right to show it.
    enum Acquisition: Sendable {
        /// The caller shows it and then calls ``settle(_:isShown:)``.
        case secret(SecretNotification, unread: Int?)
        /// It was shown or withdrawn, or somebody else is about to show it.
        case settled
        /// It cannot be had now. `isGone`: the server does not give it to this user.
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
        let acquisition = await acquire(id, until: wake.deadline)
        if case .secret(_, let unread?) = acquisition { await setBadge(unread) }
        return await finish(acquisition, id)
    }

    /// Fetches a secret and claims it.
    func acquire(_ id: PushID, until deadline: TimeInterval) async -> Acquisition {
        guard underWay.insert(id).inserted else { return .settled }
        let acquisition: Acquisition
        let call = RetrievalConnection.Call(
            path: "api/notifications/\(id)", query: [("include", "unread")])
        let wasAsked = (try? await keeper.update { $0.ledger.ask(id) }) ?? true
        let (outcome, tries) = await connection.sendCounting(call, until: deadline)
        switch outcome {
        case .success(let response):
            do throws(AnswerFault) {
                let answer = try SecretAnswer(response.body, for: id)
                return await openAndClaim(
                    answer.secret, unread: answer.unread, wasAsked: wasAsked || tries > 1, until: deadline)
            } catch {
                acquisition = .failed(error.code, isGone: false)
            }
        case .refused(let status):
            acquisition = .failed(.status(status), isGone: [403, 404, 410].contains(status))
        case .failed(let code): acquisition = .failed(code, isGone: false)
        case .loggedOut(let code): acquisition = .loggedOut(code)
        case .locked: acquisition = .locked
        }
        underWay.remove(id)
        return acquisition
    }

    /// Opens a secret that is in ``underWay``, and claims it.
    func openAndClaim(
        _ secret: SecretNotification, unread: Int?, wasAsked: Bool, until deadline: TimeInterval
    ) async -> Acquisition {
        let acquisition: Acquisition
        switch await open(secret) {
        case .opened(let opened):
            return await claim(opened, unread: unread, wasAsked: wasAsked, until: deadline)
        case .closed(let code): acquisition = .closed(code)
        case .failed(let code): acquisition = .failed(code, isGone: false)
        case .locked: acquisition = .locked
        }
        underWay.remove(secret.id)
        return acquisition
    }

    /// Claims a secret that is in ``underWay``.
    private func claim(
        _ secret: SecretNotification, unread: Int?, wasAsked: Bool, until deadline: TimeInterval
    ) async -> Acquisition {
        let (id, process, limits) = (secret.id, process, configuration.limits)
        while true {
            let now = clock.date.timeIntervalSince1970
            let claim = try? await keeper.update { $0.claim(secret, wasAsked: wasAsked, by: process, at: now, limits) }
            switch claim {
            case .granted: return .secret(secret, unread: unread)
            case .settled:
                underWay.remove(id)
                return .settled
            case .held(let seconds) where clock.uptime + seconds < deadline:
                // If the other process dies now, this one shows the secret.
                if (try? await clock.sleep(for: seconds)) == nil {
                    underWay.remove(id)
                    return .settled
                }
            case .held:
                underWay.remove(id)
                return .settled
            case .inDoubt: await resolveDoubts()
            case nil:
                underWay.remove(id)
                return .locked
            }
        }
    }

    /// Notes that a claimed secret was shown, or that it waits for the next wake.
    func settle(_ id: PushID, isShown: Bool) async {
        let (now, process) = (clock.date.timeIntervalSince1970, process)
        let end = try? await keeper.update { state in
            let end = state.ledger.settle(id, of: process, isShown: isShown, at: now)
            if isShown { state.report(id) }
            return end
        }
        underWay.remove(id)
        // It was withdrawn while it was shown.
        if end == .withdrawn { await presenter.remove([id]) }
    }

    /// Shows a secret by the presenter, or what is shown in place of it.
    func finish(_ acquisition: Acquisition, _ id: PushID) async -> WakeReport {
        switch acquisition {
        case .settled: return WakeReport()
        case .secret(let secret, _):
            do {
                try await presenter.show(secret)
            } catch {
                await settle(id, isShown: false)
                return await notice(id, .notPresented, isGone: false)
            }
            await settle(id, isShown: true)
            return WakeReport(result: .newData, shown: [id])
        case .failed(let code, let isGone): return await notice(id, code, isGone: isGone)
        case .closed(let code): return await notice(id, code, isGone: true)
        case .loggedOut(let code): return await prompt([id], code)
        case .locked:
            return await showLockedNotice()
        }
    }

    /// Shows the generic text, once per notification.
    private func notice(_ id: PushID, _ code: DiagnosticCode, isGone: Bool) async -> WakeReport {
        let isFirst = (try? await keeper.update { $0.ledger.notice(id, isGone: isGone) }) ?? true
        let isSecret = code == .noKey || code == .unopenable
        if isFirst, !isGone || isSecret || configuration.showsNoticeWhenGone {
            await show(GenericNotice(id: id, localizationKey: configuration.texts.generic, code: code))
        }
        return WakeReport(result: .failed, waiting: isGone ? [] : [id], code: code)
    }

    /// Asks the user to log in, once more for each new notification.
    func prompt(_ ids: [PushID], _ code: DiagnosticCode) async -> WakeReport {
        let news = try? await keeper.update { state in
            var isNews = false
            for id in ids where state.ledger.notice(id) { isNews = true }
            state.isPrompted = true
            return isNews ? state.ledger.waiting : []
        }
        if let waiting = news, !waiting.isEmpty {
            try? await presenter.show(
                LogInPrompt(ids: waiting, localizationKey: configuration.texts.logIn, code: code))
        }
        return WakeReport(result: .failed, waiting: ids, code: code)
    }
}
