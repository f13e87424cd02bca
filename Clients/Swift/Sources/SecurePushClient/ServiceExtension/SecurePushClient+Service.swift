import Foundation

extension SecurePushClient {
    /// The generic text in place of an alert.
    nonisolated func genericContent(_ id: PushID?, _ code: DiagnosticCode) -> ServiceContent {
        ServiceContent(.generic(genericNotice(id, code)))
    }

    /// Nothing new in place of an alert.
    private func nothing(_ id: PushID?, badge: Int? = nil) -> ServiceContent {
        var content = ServiceContent(.nothing, badge: badge)
        content.substitute = genericNotice(id, .nothingNew)
        return content
    }

    /// Waits for the end of a wake that begins now.
    nonisolated func waitForEndOfWake() async throws {
        try await clock.waitUntil(uptime: clock.uptime + configuration.limits.secondsInTotal)
    }

    /// Handles a push in a service extension. The caller delivers the last offer if nothing was delivered.
    func serve(_ push: IncomingPush, by delivery: ContentDelivery) async {
        var wake = begin()
        guard push.isSecurePush else {
            delivery.complete(genericContent(nil, .malformedPush))
            return
        }
        switch await receive(push, in: &wake) {
        case .locked: await completeLocked(delivery)
        // The alert may come from anybody, so its text is not shown either.
        case .ignored(let code): delivery.complete(genericContent(push.id, code))
        case .unverified: delivery.complete(genericContent(push.id, .credentials))
        case .unusable: delivery.complete(genericContent(nil, .malformedPush))
        case .withdrawn, .settled:
            // Empty content. The alert of a repeated push shows nothing new.
            delivery.offer(nothing(push.id))
            await catchUpBeforeCompletion(in: wake)
            delivery.complete(nothing(push.id, badge: badge))
            await end(wake)
        case .wanted(let id): await serve(id, in: wake, by: delivery)
        }
    }

    private func serve(_ id: PushID, in wake: Wake, by delivery: ContentDelivery) async {
        switch await acquire(id, in: wake, until: wake.deadline) {
        case .secret(let secret, let unread):
            let (content, text) = content(await appearance(of: secret))
            if case .secret(let secret) = content { await presenter.prepare(secret) }
            // An offer that is taken is delivered, even if the time is up now.
            guard delivery.offer(ServiceContent(content, badge: unread)) else {
                return await settle(id, isShown: false, in: wake)
            }
            if let unread { await setBadge(unread) }
            await catchUpBeforeCompletion(in: wake)
            delivery.complete(ServiceContent(content, badge: badge))
            await settle(id, isShown: true, as: text, in: wake)
            await end(wake)
        case .settled:
            delivery.complete(nothing(id))
        case .failed(let code, let isGone): await serveNotice(id, code, isGone: isGone, in: wake, by: delivery)
        case .closed(let code): await serveNotice(id, code, isGone: true, in: wake, by: delivery)
        case .loggedOut(let code):
            delivery.offer(ServiceContent(.prompt(await notePrompt(for: [id], code).prompt)))
            await refreshOldPushKeys(until: inboxDeadline(of: wake))
            delivery.complete()
        case .locked: await completeLocked(delivery)
        }
    }

    private func content(_ appearance: Appearance) -> (ServiceContent.Kind, ShownReport.Text) {
        switch appearance {
        case .secret(let secret): (.secret(secret), .secret)
        case .generic(let notice): (.generic(notice), .generic)
        }
    }

    private func serveNotice(
        _ id: PushID, _ code: DiagnosticCode, isGone: Bool, in wake: Wake, by delivery: ContentDelivery
    ) async {
        await noteNotice(id, code, isGone: isGone)
        delivery.offer(genericContent(id, code))
        if code.allowsCatchUp { await catchUpBeforeCompletion(in: wake) }
        delivery.complete()
    }

    /// One notice per start of the device; the other alerts become empty.
    private func completeLocked(_ delivery: ContentDelivery) async {
        delivery.complete(await claimLockedNotice().map { ServiceContent(.generic($0)) } ?? nothing(nil))
    }

    /// Looks into the inbox and, once in a while, reads the keys for pushes. The system may suspend the extension as
    /// soon as it has its answer, so this comes first.
    private func catchUpBeforeCompletion(in wake: Wake) async {
        let deadline = inboxDeadline(of: wake)
        _ = await catchUp(in: wake, until: deadline)
        await refreshOldPushKeys(until: deadline)
    }

    private func inboxDeadline(of wake: Wake) -> TimeInterval {
        min(wake.deadline, clock.uptime + configuration.limits.secondsForInbox)
    }
}
