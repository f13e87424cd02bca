import Foundation

extension SecurePushClient {
    /// The generic text in place of an alert.
    nonisolated func genericContent(_ id: PushID?, _ code: DiagnosticCode) -> ServiceContent {
        ServiceContent(
            .generic(GenericNotice(id: id, localizationKey: configuration.texts.generic, code: code)))
    }

    /// Waits for the end of a wake that begins now.
    nonisolated func outlastWake() async throws {
        try await clock.waitUntil(uptime: clock.uptime + configuration.limits.secondsInTotal)
    }

    /// Handles a push in a service extension. Whatever the delivery has at its end is delivered by the caller.
    func serve(_ push: IncomingPush, by delivery: ContentDelivery) async {
        let wake = begin()
        guard push.isOurs else {
            delivery.complete(genericContent(nil, .malformedPush))
            return
        }
        switch await receive(push) {
        case .locked: await completeLocked(delivery)
        // The alert may come from anybody, so its text is not shown either.
        case .ignored(let code): delivery.complete(genericContent(push.id, code))
        case .unusable: delivery.complete(genericContent(nil, .malformedPush))
        case .withdrawn, .settled:
            // Empty content. The alert of a repeated push shows nothing new.
            delivery.offer(ServiceContent(.nothing))
            _ = await catchUp(in: wake, until: inboxDeadline(of: wake))
            delivery.complete(ServiceContent(.nothing, badge: badge))
            _ = await end(wake, WakeReport())
        case .wanted(let id): await serve(id, in: wake, by: delivery)
        }
    }

    private func serve(_ id: PushID, in wake: Wake, by delivery: ContentDelivery) async {
        switch await acquire(id, until: wake.deadline) {
        case .secret(let secret, let unread):
            // An offer that is taken is delivered, even if the time is up now.
            guard delivery.offer(ServiceContent(.secret(secret), badge: unread)) else {
                return await settle(id, isShown: false)
            }
            if let unread { await setBadge(unread) }
            _ = await catchUp(in: wake, until: inboxDeadline(of: wake))
            delivery.complete(ServiceContent(.secret(secret), badge: badge))
            await settle(id, isShown: true)
            _ = await end(wake, WakeReport())
        case .settled:
            delivery.complete(ServiceContent(.nothing))
        case .failed(let code, let isGone): await serveNotice(id, code, isGone: isGone, in: wake, by: delivery)
        case .closed(let code): await serveNotice(id, code, isGone: true, in: wake, by: delivery)
        case .loggedOut(let code):
            let waiting = try? await keeper.update { state in
                _ = state.ledger.notice(id)
                state.isPrompted = true
                return state.ledger.waiting
            }
            delivery.complete(
                ServiceContent(
                    .prompt(
                        LogInPrompt(ids: waiting ?? [id], localizationKey: configuration.texts.logIn, code: code))))
        case .locked: await completeLocked(delivery)
        }
    }

    private func serveNotice(
        _ id: PushID, _ code: DiagnosticCode, isGone: Bool, in wake: Wake, by delivery: ContentDelivery
    ) async {
        _ = try? await keeper.update { $0.ledger.notice(id, isGone: isGone) }
        delivery.offer(genericContent(id, code))
        if code.allowsCatchUp { _ = await catchUp(in: wake, until: inboxDeadline(of: wake)) }
        delivery.complete()
    }

    /// One notice per start of the device; the other alerts become empty.
    private func completeLocked(_ delivery: ContentDelivery) async {
        let notice = GenericNotice(id: nil, localizationKey: configuration.texts.locked, code: .locked)
        let isFirst = await store.claimLockedNotice()
        delivery.complete(ServiceContent(isFirst ? .generic(notice) : .nothing))
    }

    private func inboxDeadline(of wake: Wake) -> TimeInterval {
        min(wake.deadline, clock.uptime + configuration.limits.secondsForInbox)
    }
}
