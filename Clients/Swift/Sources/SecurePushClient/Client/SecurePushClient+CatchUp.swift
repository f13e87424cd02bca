import Foundation

/// A catch-up that runs or has run.
struct CatchUpRun: Sendable {
    /// The last wake that came before it began.
    let lastWake: Int
    let task: Task<WakeReport, Never>
}

extension SecurePushClient {
    /// Fetches what is in the inbox and what waits, and shows it. One run serves all wakes that came before it began.
    ///
    /// - Parameter deadline: the ``ClientClock/uptime`` at which to return, if that is before the wake's.
    func catchUp(in wake: Wake, until deadline: TimeInterval? = nil) async -> WakeReport {
        let end = deadline ?? wake.deadline
        let joined = catchUpRun.flatMap { $0.lastWake >= wake.number ? $0.task : nil }
        let task = joined ?? startCatchUp(until: end)
        guard var report = try? await TimeLimit.run(until: end, on: clock, { await task.value }) else {
            return WakeReport(result: .failed, code: .timedOut)
        }
        // The wake that began the run reports the notifications.
        if joined != nil { (report.shown, report.waiting) = ([], []) }
        return report
    }

    private func startCatchUp(until deadline: TimeInterval) -> Task<WakeReport, Never> {
        let earlier = catchUpRun?.task
        let task = Task {
            _ = await earlier?.value
            return await runCatchUp(until: deadline)
        }
        catchUpRun = CatchUpRun(lastWake: lastWake, task: task)
        return task
    }

    private func runCatchUp(until deadline: TimeInterval) async -> WakeReport {
        await resolveDoubts()
        await resolveQuestions(until: deadline)
        var report = WakeReport()
        let listing = await list(until: deadline)
        switch listing {
        case .failure(let failure):
            // What waits is not lost; the next wake tries again.
            if failure.code.asksForLogIn, let waiting = try? await keeper.read().ledger.waiting, !waiting.isEmpty {
                return await prompt(waiting, failure.code)
            }
            return WakeReport(result: .failed, code: failure.code)
        case .success(let inbox):
            var unread = inbox.unread
            if inbox.found.count > 1 { report.add(await showPages(of: inbox, &unread, until: deadline)) }
            if report.code == nil { report.add(await showWaiting(&unread, shown: report.shown.count, until: deadline)) }
            if report.code == nil, await outwaitClaims(until: deadline) {
                report.add(await showWaiting(&unread, shown: report.shown.count, until: deadline))
            }
            await setBadge(unread)
            return report
        }
    }

    /// Waits until the claims of other processes have expired, and finds out how they ended.
    ///
    /// - Returns: whether there were any, and there was time for them.
    private func outwaitClaims(until deadline: TimeInterval) async -> Bool {
        let (now, limits) = (clock.date.timeIntervalSince1970, configuration.limits)
        guard let state = try? await keeper.read(),
            let seconds = state.ledger.secondsOfClaims(besides: process, at: now, limits),
            clock.uptime + seconds < deadline, (try? await clock.sleep(for: seconds)) != nil
        else { return false }
        await resolveDoubts()
        return true
    }

    /// The new notifications of the inbox, by their IDs. They are stored as waiting.
    private struct Listing: Sendable {
        /// The notification after which the new ones come; `nil` for the first listing of this device, which is of
        /// unread notifications only.
        var anchor: PushID?
        var found: [PushID] = []
        var unread = 0
    }

    /// Lists the inbox after the last seen notification, without payloads: nothing is marked as read before it is
    /// stored as waiting.
    private func list(until deadline: TimeInterval) async -> Result<Listing, SecurePushFailure> {
        guard let state = try? await keeper.read() else { return .failure(SecurePushFailure(code: .locked)) }
        var listing = Listing(anchor: state.cursor)
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
            let (now, limits) = (clock.date.timeIntervalSince1970, configuration.limits)
            let ids = page.entries.map(\.id)
            let isFirst = listing.anchor == nil
            let learned = try? await keeper.update { state in
                let known = Set(state.ledger.entries.map(\.id))
                for id in ids { state.ledger.learn(id, at: now, limits) }
                // The listing of delayed notifications is behind the cursor and does not move it. A device that has
                // seen no page yet begins after the newest notification that it has shown.
                if !isUnreadOnly || isFirst { state.cursor = ids.last ?? state.cursor ?? state.ledger.lastShown }
                return (new: ids.filter { !known.contains($0) }, waiting: state.ledger.waiting.count)
            }
            let found = Set(listing.found)
            listing.found += (learned?.new ?? []).filter { !found.contains($0) }
            // The rest comes at the next wake, so that nothing that waits is forgotten.
            guard page.hasNext, let last = ids.last, last != after,
                (learned?.waiting ?? 0) < limits.maxRememberedIDs / 2
            else { return }
            after = last
        }
    }

    private func page(
        _ query: [(name: String, value: String)], until deadline: TimeInterval
    ) async throws(SecurePushFailure) -> InboxAnswer {
        switch await connection.send(.init(path: "api/notifications", query: query), until: deadline) {
        case .success(let response):
            do { return try InboxAnswer(response.body) } catch { throw SecurePushFailure(code: error.code) }
        case .refused(let status): throw SecurePushFailure(code: .status(status))
        case .failed(let code), .loggedOut(let code): throw SecurePushFailure(code: code)
        case .locked: throw SecurePushFailure(code: .locked)
        }
    }

    /// Fetches many new notifications with few requests (`include=payload`). What does not come in this way is fetched
    /// one by one.
    private func showPages(
        of listing: Listing, _ unread: inout Int, until deadline: TimeInterval
    ) async -> WakeReport {
        var (report, after, missing) = (WakeReport(), listing.anchor, Set(listing.found))
        let found = listing.found
        let new = (try? await keeper.update { state in Set(found.filter { !state.ledger.ask($0) }) }) ?? []
        while !missing.isEmpty, report.shown.count < configuration.limits.maxShownPerWake {
            var query = [
                (name: "include", value: "payload"), ("Limit", "\(configuration.limits.maxSecretsPerPage)"),
            ]
            if listing.anchor == nil { query.append(("Unread", "true")) }
            if let after { query.append(("After", after.rawValue)) }
            guard let page = try? await page(query, until: deadline), let last = page.entries.last?.id else { break }
            unread = page.unread
            for secret in page.entries.compactMap(\.secret) where missing.contains(secret.id) {
                missing.remove(secret.id)
                guard underWay.insert(secret.id).inserted else { continue }
                report.add(
                    await finish(
                        await openAndClaim(
                            secret, unread: nil, wasAsked: !new.contains(secret.id), until: deadline), secret.id))
            }
            guard page.hasNext, page.entries.contains(where: { $0.secret != nil }), last != after else { break }
            after = last
        }
        return report
    }

    /// Fetches and shows what waits, one by one, until something fails for all.
    private func showWaiting(_ unread: inout Int, shown: Int, until deadline: TimeInterval) async -> WakeReport {
        var (report, shown) = (WakeReport(), shown)
        for id in (try? await keeper.read().ledger.fetchOrder) ?? [] where !underWay.contains(id) {
            guard shown < configuration.limits.maxShownPerWake, clock.uptime < deadline, !Task.isCancelled else {
                break
            }
            let end = min(deadline, clock.uptime + configuration.limits.secondsPerTry)
            let acquisition = await acquire(id, until: end)
            if case .secret(_, let count?) = acquisition { unread = count }
            if case .loggedOut(let code) = acquisition {
                report.add(await prompt((try? await keeper.read().ledger.waiting) ?? [id], code))
                break
            }
            let step = await finish(acquisition, id)
            report.add(step)
            shown += step.shown.count
            if let code = step.code, !code.allowsCatchUp { break }
        }
        return report
    }

    /// Two thousand notifications. The next wake goes on.
    private static let maxPages = 10
}
