import Foundation

/// A catch-up that runs or has run.
struct CatchUpRun: Sendable {
    /// The last wake that came before it began.
    let lastWake: Int
    /// ``Wake/userChanges`` of the wake that began it.
    let userChanges: Int
    let task: Task<WakeReport, Never>
}

extension SecurePushClient {
    /// Fetches and shows the new notifications of the inbox and those that wait. One run serves all wakes that came
    /// before it began.
    ///
    /// - Parameter deadline: the ``ClientClock/uptime`` at which the requests end, if that is before the wake's.
    func catchUp(in wake: Wake, until deadline: TimeInterval? = nil) async -> WakeReport {
        let deadline = deadline ?? wake.deadline
        let joined = catchUpRun.flatMap { run in
            run.lastWake >= wake.number && run.userChanges >= wake.userChanges ? run.task : nil
        }
        let task = joined ?? startCatchUp(in: wake, until: deadline)
        let end = deadline + Wake.secondsAfterRequests
        guard var report = try? await TimeLimit.run(until: end, on: clock, { await task.value }) else {
            return WakeReport(result: .failed, code: .timedOut)
        }
        // The wake that began the run reports the notifications.
        if joined != nil { (report.shown, report.waiting) = ([], []) }
        return report
    }

    private func startCatchUp(in wake: Wake, until deadline: TimeInterval) -> Task<WakeReport, Never> {
        let earlier = catchUpRun?.task
        let task = Task {
            _ = await earlier?.value
            return await runCatchUp(in: wake, until: deadline)
        }
        catchUpRun = CatchUpRun(lastWake: lastWake, userChanges: wake.userChanges, task: task)
        return task
    }

    private func runCatchUp(in wake: Wake, until deadline: TimeInterval) async -> WakeReport {
        await resolveInDoubtClaims()
        await confirmWithdrawals(until: deadline)
        var report = WakeReport()
        let listing = await list(in: wake, until: deadline)
        guard await isCurrent(wake) else { return report }
        switch listing {
        case .failure(let failure):
            // The next wake tries again.
            if failure.code.asksForLogIn, let waiting = try? await keeper.read().ledger.waiting, !waiting.isEmpty {
                return await prompt(waiting, failure.code)
            }
            return WakeReport(result: .failed, code: failure.code)
        case .success(let inbox):
            var unread = inbox.unread
            if inbox.found.count > 1 { report.add(await showPages(of: inbox, &unread, in: wake, until: deadline)) }
            if report.code == nil {
                report.add(await showWaiting(&unread, shown: report.shown.count, in: wake, until: deadline))
            }
            if report.code == nil, await waitForClaims(until: deadline) {
                report.add(await showWaiting(&unread, shown: report.shown.count, in: wake, until: deadline))
            }
            if await isCurrent(wake) { await setBadge(unread) }
            return report
        }
    }

    /// Waits until the claims of other processes have expired, and then checks whether they showed the secrets.
    ///
    /// - Returns: whether there were claims, and they expired before the deadline.
    private func waitForClaims(until deadline: TimeInterval) async -> Bool {
        let ledger = try? await keeper.read().ledger
        let (now, limits) = (clock.uptime, configuration.limits)
        let claims = ledger?.claims(besides: process, at: now, limits)
        guard let seconds = claims?.map(\.secondsLeft).max(), clock.uptime + seconds < deadline,
            (try? await clock.sleep(for: seconds)) != nil
        else { return false }
        await resolveInDoubtClaims()
        return true
    }

    /// The new notifications of the inbox, by their IDs. They are stored as waiting.
    private struct Listing: Sendable {
        /// The notification after which the new ones come; `nil` for the first listing of this device, which is of
        /// unread notifications only.
        var anchor: PushID?
        /// ``ClientState/userChanges`` before the first request.
        let userChanges: Int
        var found: [PushID] = []
        var unread = 0
    }

    /// Lists the inbox after the last seen notification, without payloads: nothing is marked as read before it is
    /// stored as waiting.
    private func list(in wake: Wake, until deadline: TimeInterval) async -> Result<Listing, SecurePushFailure> {
        guard let state = try? await keeper.read() else { return .failure(SecurePushFailure(code: .locked)) }
        var listing = Listing(anchor: state.cursor, userChanges: state.userChanges)
        // A wake of the new user lists that user's inbox.
        if state.userChanges > wake.userChanges { return .success(listing) }
        do {
            try await listPages(&listing, after: state.cursor, isUnreadOnly: state.cursor == nil, until: deadline)
            // A delayed notification (`NotBefore`) is older than the last seen one. It is unread, and not known here.
            if state.cursor != nil, listing.unread > (try? await keeper.read().ledger.waiting.count) ?? 0 {
                try await listPages(&listing, after: nil, isUnreadOnly: true, until: deadline)
            }
            return .success(listing)
        } catch {
            return .failure(error)
        }
    }

    private func listPages(
        _ listing: inout Listing, after start: PushID?, isUnreadOnly: Bool, until deadline: TimeInterval
    ) async throws(SecurePushFailure) {
        var after = start
        for _ in 0..<Self.maxPages {
            var query = [(name: "Limit", value: "\(InboxAnswer.maxEntries)")]
            if isUnreadOnly { query.append(("Unread", "true")) }
            if let after { query.append(("After", after.rawValue)) }
            let page = try await page(query, until: deadline)
            listing.unread = page.unread
            let (now, limits) = (clock.uptime, configuration.limits)
            let ids = page.entries.map(\.id)
            let (isFirst, userChanges) = (listing.anchor == nil, listing.userChanges)
            let learned: (new: [PushID], waiting: Int)? = try? await keeper.update { state in
                guard state.userChanges == userChanges else { return nil }
                let known = Set(state.ledger.entries.map(\.id))
                var new: [PushID] = []
                for id in ids where state.ledger.learn(id, at: now, limits) && !known.contains(id) { new.append(id) }
                // The listing of delayed notifications is behind the cursor and does not move it. A device that has
                // seen no page yet begins after the newest notification that it has shown.
                if !isUnreadOnly || isFirst { state.cursor = ids.last ?? state.cursor ?? state.ledger.lastShown }
                return (new: new, waiting: state.ledger.waiting.count)
            }
            // The user has changed since the request, or nothing can be stored now.
            guard let learned else { return }
            listing.found += learned.new
            // The rest comes at the next wake. More IDs would push waiting ones out of the ledger.
            guard page.hasNext, let last = ids.last, last != after, learned.waiting < limits.maxRememberedIDs / 2
            else { return }
            after = last
        }
    }

    func page(
        _ query: [(name: String, value: String)], until deadline: TimeInterval
    ) async throws(SecurePushFailure) -> InboxAnswer {
        let response = try await connection.send(.init(path: "api/notifications", query: query), until: deadline)
            .response()
        do { return try InboxAnswer(response.body) } catch { throw SecurePushFailure(code: error.code) }
    }

    /// Fetches many new notifications with few requests (`include=payload`). The others are fetched one by one later.
    private func showPages(
        of listing: Listing, _ unread: inout Int, in wake: Wake, until deadline: TimeInterval
    ) async -> WakeReport {
        var (report, after) = (WakeReport(), listing.anchor)
        var wanted = listing.found
        let limits = configuration.limits
        while !wanted.isEmpty, report.shown.count < limits.maxShownPerWake {
            // The server marks no more than these as read.
            var requests = await request(wanted.prefix(limits.maxSecretsPerPage), listing.userChanges)
            // The user has changed since the listing, or nothing can be stored now.
            if requests.isEmpty { break }
            let (page, lost) = await payloadPage(of: listing, after: after, requests, until: deadline)
            guard let page, let last = page.entries.last?.id else { break }
            unread = page.unread
            let secrets = page.entries.compactMap(\.secret)
            // The server has marked all of them as read, also those that have become visible since the listing.
            requests.merge(await learnUnlisted(secrets.map(\.id), listing.userChanges)) { first, _ in first }
            for secret in secrets {
                guard var request = requests.removeValue(forKey: secret.id) else { continue }
                if lost > 0 { request.isRepeated = true }
                let acquisition = await acquire(secret, request, until: deadline)
                report.add(await finish(acquisition, secret.id, in: wake))
            }
            let shown = Set(secrets.map(\.id))
            wanted.removeAll(where: shown.contains)
            guard page.hasNext, !secrets.isEmpty, last != after else { break }
            after = last
        }
        return report
    }

    /// Fetches a page with payloads.
    ///
    /// - Parameter requests: those that the page may have.
    /// - Returns: the page, if there is one, and the number of tries whose answer was lost.
    private func payloadPage(
        of listing: Listing, after: PushID?, _ requests: [PushID: FetchRequest], until deadline: TimeInterval
    ) async -> (page: InboxAnswer?, lost: Int) {
        var query = [(name: "include", value: "payload"), ("Limit", "\(configuration.limits.maxSecretsPerPage)")]
        if listing.anchor == nil { query.append(("Unread", "true")) }
        if let after { query.append(("After", after.rawValue)) }
        let call = RetrievalCall(path: "api/notifications", query: query)
        let (outcome, lost) = await connection.sendCounting(call, until: deadline)
        let page = try? InboxAnswer(outcome.response().body)
        if lost == 0 {
            await forgetRefused(outcome, requests)
            // Known notifications have taken the place of those that are not on the page.
            let onPage = Set(page?.entries.compactMap { $0.secret?.id } ?? [])
            if page != nil { await forget(requests.filter { !onPage.contains($0.key) }) }
        }
        return (page, lost)
    }

    /// Notes that the server is being asked for notifications.
    private func request(_ ids: ArraySlice<PushID>, _ userChanges: Int) async -> [PushID: FetchRequest] {
        let requests: [PushID: FetchRequest]? = try? await keeper.update { state in
            guard state.userChanges == userChanges else { return [:] }
            return Dictionary(ids.map { ($0, state.request($0)) }) { first, _ in first }
        }
        return requests ?? [:]
    }

    /// Notes the notifications that the client does not know yet.
    private func learnUnlisted(_ ids: [PushID], _ userChanges: Int) async -> [PushID: FetchRequest] {
        let (now, limits) = (clock.uptime, configuration.limits)
        let requests = try? await keeper.update { state in
            var requests: [PushID: FetchRequest] = [:]
            guard state.userChanges == userChanges else { return requests }
            for id in ids where state.ledger[id] == nil && state.ledger.learn(id, at: now, limits) {
                requests[id] = state.request(id)
            }
            return requests
        }
        return requests ?? [:]
    }

    /// Fetches and shows the waiting notifications one by one. A failure that concerns all of them ends it.
    private func showWaiting(
        _ unread: inout Int, shown: Int, in wake: Wake, until deadline: TimeInterval
    ) async -> WakeReport {
        var (report, shown) = (WakeReport(), shown)
        for id in (try? await keeper.read().ledger.fetchOrder) ?? [] where !inFlight.contains(id) {
            guard shown < configuration.limits.maxShownPerWake, !Task.isCancelled else { break }
            let end = min(deadline, clock.uptime + configuration.limits.secondsPerTry)
            let acquisition = await acquire(id, in: wake, until: end)
            if case .secret(_, let count?) = acquisition { unread = count }
            if case .loggedOut(let code) = acquisition {
                report.add(await prompt((try? await keeper.read().ledger.waiting) ?? [id], code))
                break
            }
            let step = await finish(acquisition, id, in: wake)
            report.add(step)
            shown += step.shown.count
            if let code = step.code, !code.allowsCatchUp { break }
        }
        return report
    }

    /// A wake lists at most 2,000 notifications. The next wake goes on.
    private static let maxPages = 10
}
