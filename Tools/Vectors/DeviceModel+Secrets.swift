import SecurePushCore

extension DeviceModel {
    /// The end of a fetch.
    enum Step {
        case secret(SecretModel, wasAsked: Bool)
        case settled
        case failed(String, isGone: Bool)
        case loggedOut(String)
    }

    var waiting: [String] { entries.filter { $0.progress == .pending }.map(\.id) }

    private func index(of id: String) -> Int? { entries.lastIndex { $0.id == id } }

    /// - Returns: whether the notification is to be fetched.
    @discardableResult
    func learn(_ id: String) -> Bool {
        guard let index = index(of: id) else {
            entries.append(Entry(id: id))
            return true
        }
        switch entries[index].progress {
        case .pending: return true
        case .shown, .withdrawn: return false
        case .gone:
            entries[index].progress = .pending
            return true
        }
    }

    /// - Returns: whether an earlier request for the notification has no clear answer.
    func ask(_ id: String) -> Bool {
        guard let index = index(of: id) else { return false }
        defer { entries[index].openRequests += 1 }
        return entries[index].openRequests > 0
    }

    /// The last request has a clear answer.
    func unask(_ id: String) {
        guard let index = index(of: id) else { return }
        entries[index].openRequests = max(0, entries[index].openRequests - 1)
    }

    func fetchAndShow(_ id: String) -> WakeModel.Report {
        let step = acquire(id, until: seen.deadline)
        if case .secret(let secret, _) = step, let unread = secret.unread { seen.badge = unread }
        return finish(step, id)
    }

    func acquire(_ id: String, until deadline: Int) -> Step {
        let wasAsked = ask(id)
        let call = ServerModel.Request(path: "/api/notifications/\(id)", query: [("include", "unread")])
        let (outcome, lost) = send(call, until: deadline)
        if lost == 0, !outcome.isSuccess { unask(id) }
        switch outcome {
        case .success(let body):
            guard let secret = SecretModel(body) else { return .failed("SP-JSON", isGone: false) }
            guard secret.id == id else { return .failed("SP-ID", isGone: false) }
            return claim(secret, wasAsked: wasAsked || lost > 0)
        case .refused(let status):
            let isGone = [403, 404, 410].contains(status)
            if isGone, questioned.contains(id) {
                remove(id)
                return .settled
            }
            return .failed("SP-\(status)", isGone: isGone)
        case .failed(let code): return .failed(code, isGone: false)
        case .loggedOut(let code): return .loggedOut(code)
        }
    }

    func claimAndShow(_ secret: SecretModel, wasAsked: Bool) -> WakeModel.Report {
        finish(claim(secret, wasAsked: wasAsked), secret.id)
    }

    private func claim(_ secret: SecretModel, wasAsked: Bool) -> Step {
        let isFirstReader = !secret.wasRead || wasAsked
        guard let index = index(of: secret.id) else { return .secret(secret, wasAsked: wasAsked) }
        switch entries[index].progress {
        case .shown: return .settled
        case .withdrawn where !isFirstReader: return .settled
        default:
            if isFirstReader { entries[index].isFirstReader = true }
            unask(secret.id)
            if let code = secret.closed { return .failed(code, isGone: true) }
            return .secret(secret, wasAsked: wasAsked)
        }
    }

    func finish(_ step: Step, _ id: String) -> WakeModel.Report {
        switch step {
        case .settled: return WakeModel.Report()
        case .secret(let secret, _): return show(secret)
        case .failed(let code, let isGone): return notice(id, code, isGone: isGone)
        case .loggedOut(let code): return prompt([id], code)
        }
    }

    private func show(_ secret: SecretModel) -> WakeModel.Report {
        if refusals > 0 {
            refusals -= 1
            return notice(secret.id, "SP-SHOW", isGone: false)
        }
        seen.shown.append(["id": JSONLiteral(secret.id), "text": JSONLiteral(secret.text)])
        if !secretsOnScreen.contains(secret.id) { secretsOnScreen.append(secret.id) }
        noticesOnScreen.removeAll { $0 == secret.id }
        if let index = index(of: secret.id) { entries[index].progress = .shown }
        if !unreported.contains(secret.id) { unreported.append(secret.id) }
        return WakeModel.Report(result: .newData, shown: [secret.id])
    }

    private func notice(_ id: String, _ code: String, isGone: Bool) -> WakeModel.Report {
        if isFirstNotice(id, isGone: isGone) {
            seen.generic.append(["id": JSONLiteral(id), "code": JSONLiteral(code)])
            noticesOnScreen.append(id)
        }
        return WakeModel.Report(result: .failed, waiting: isGone ? [] : [id], code: code)
    }

    private func isFirstNotice(_ id: String, isGone: Bool = false) -> Bool {
        guard let index = index(of: id) else { return true }
        if isGone, entries[index].progress == .pending { entries[index].progress = .gone }
        defer { entries[index].isNoticed = true }
        return !entries[index].isNoticed
    }

    func prompt(_ ids: [String], _ code: String) -> WakeModel.Report {
        let news = ids.filter { isFirstNotice($0) }
        isPrompted = true
        if !news.isEmpty, !waiting.isEmpty {
            seen.prompts.append(["ids": JSONLiteral(waiting), "code": JSONLiteral(code)])
            isPromptOnScreen = true
        }
        return WakeModel.Report(result: .failed, waiting: ids, code: code)
    }

    // MARK: Withdrawals

    func withdraw(_ id: String) {
        if let index = index(of: id), mayHaveBeenFirst(entries[index]) {
            if !questioned.contains(id) { questioned.append(id) }
        } else {
            remove(id)
        }
    }

    private func mayHaveBeenFirst(_ entry: Entry) -> Bool {
        switch entry.progress {
        case .pending: entry.isFirstReader || entry.openRequests > 0
        case .shown, .gone: entry.isFirstReader
        case .withdrawn: false
        }
    }

    private func remove(_ id: String) {
        questioned.removeAll { $0 == id }
        if let index = index(of: id) {
            entries[index].progress = .withdrawn
        } else {
            entries.append(Entry(id: id, progress: .withdrawn))
        }
        secretsOnScreen.removeAll { $0 == id }
        noticesOnScreen.removeAll { $0 == id }
        if isPrompted, waiting.isEmpty { (isPrompted, isPromptOnScreen) = (false, false) }
    }

    func askQuestions() {
        for id in questioned {
            let call = ServerModel.Request(method: "HEAD", path: "/api/notifications/\(id)")
            switch send(call, until: seen.deadline).outcome {
            case .success: questioned.removeAll { $0 == id }
            case .refused(403), .refused(404), .refused(410): remove(id)
            default: return
            }
        }
    }

    func reportShown() {
        let end = min(seen.deadline, now + 5_000)
        for id in unreported.prefix(50) {
            let call = ServerModel.Request(method: "POST", path: "/api/notifications/\(id)/shown")
            switch send(call, until: end).outcome {
            case .success: unreported.removeAll { $0 == id }
            case .refused(let status) where (400..<500).contains(status) && status != 408 && status != 429:
                unreported.removeAll { $0 == id }
            // A redirect or an error of a proxy is no answer to the report.
            default: return
            }
        }
    }
}
