/// What came of the wish to send a given up notification after all.
public enum ReplayDecision: Sendable, Hashable {
    /// It is owed to these platforms again; empty where the record does not tell which, and a dispatcher finds out.
    case owed([Platform])
    /// Nothing is owed: no platform that the dead letter names was given up.
    case settled
    case expired
    case revoked
    /// The record holds what this program cannot read.
    case unreadable
}

extension NotificationRecord {
    /// Decides what becomes of a notification whose sender wants it to be sent again where it failed, and its
    /// deliveries then: as ``reopening(_:now:)`` with every platform that is dead, those included that the hub refused
    /// for good. Where none is dead, nothing is owed.
    public func resending(now: Timestamp) -> (result: ReplayDecision, deliveries: [Delivery]) {
        let dead = deliveries.filter { $0.state == .dead }.map(\.platform)
        if dead.isEmpty && revokedAt == nil && expiresAt > now { return (.settled, deliveries) }
        return reopening(dead, now: now)
    }

    /// Decides what becomes of a notification that is to be sent after all, and its deliveries then.
    ///
    /// The platforms that the letter names and that were given up, or are still owed, are pending again with no
    /// attempts; what was sent or skipped stays.
    ///
    /// - Parameter givenUp: the platforms that the dead letter names; empty for a letter that names none, which the
    ///   broker itself gave up: then all that is owed begins again.
    public func reopening(_ givenUp: [Platform], now: Timestamp) -> (result: ReplayDecision, deliveries: [Delivery]) {
        if revokedAt != nil { return (.revoked, deliveries) }
        if expiresAt <= now { return (.expired, deliveries) }
        let reopened = deliveries.map { delivery in
            let isNamed = givenUp.contains(delivery.platform)
            let isReopened = delivery.state.isSettled ? delivery.state == .dead && isNamed : isNamed || givenUp.isEmpty
            guard isReopened else { return delivery }
            // What the hub may have taken then, it may show beside what it is given now.
            return Delivery(
                platform: delivery.platform, state: .pending, unanswered: delivery.unanswered, updatedAt: now)
        }
        let owed = reopened.filter { !$0.state.isSettled }.map(\.platform)
        if givenUp.isEmpty {
            let isUntried = dispatchStatus == .accepted || dispatchStatus == .queued
            return (owed.isEmpty && !isUntried ? .settled : .owed([]), reopened)
        }
        let untried = givenUp.filter { platform in !reopened.contains { $0.platform == platform } }
        return (owed.isEmpty && untried.isEmpty ? .settled : .owed(owed + untried), reopened)
    }
}
