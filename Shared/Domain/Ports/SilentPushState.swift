package import Foundations

/// The key of a state: a recipient and a platform.
package struct SilentPushKey: Sendable, Hashable {
    package var recipient: UserName
    package var platform: Platform

    package init(recipient: UserName, platform: Platform) {
        self.recipient = recipient
        self.platform = platform
    }
}

/// A notification that needs a silent push.
package struct SilentPushRequest: Sendable, Hashable {
    package var key: SilentPushKey
    /// The notification that the push would name.
    package var id: NotificationID
    /// The recipient's number of pushes when the notification began to wait (``Delivery/silentSequence``); `nil` if it
    /// has not waited.
    package var sequence: Int64?
    /// Whether the push is a reminder. A waiting notification never counts as covered by a reminder, because the
    /// delivery that a reminder names was sent before.
    package var isReminder: Bool

    package init(key: SilentPushKey, id: NotificationID, sequence: Int64? = nil, isReminder: Bool = false) {
        self.key = key
        self.id = id
        self.sequence = sequence
        self.isReminder = isReminder
    }
}

package enum SilentPushAdmission: Sendable, Hashable {
    /// Send it. If the hub has certainly not accepted it, release the grant.
    case granted(SilentPushGrant)
    /// Do not send it now. The state tells when the next push may be sent.
    case refused(SilentPushState)
}

/// A push that may be sent.
package struct SilentPushGrant: Sendable, Hashable {
    package var key: SilentPushKey
    /// Its number, from 1.
    package var sequence: Int64

    package init(key: SilentPushKey, sequence: Int64) {
        self.key = key
        self.sequence = sequence
    }
}

/// A grant that was not used.
package struct SilentPushRelease: Sendable, Hashable {
    package var grant: SilentPushGrant
    /// Whether the notification is tried again. Other notifications of the recipient then wait for it, at most
    /// ``SilentPushState/gracePeriod``.
    package var isOwed: Bool

    package init(_ grant: SilentPushGrant, isOwed: Bool) {
        self.grant = grant
        self.isOwed = isOwed
    }
}

/// The silent pushes of one recipient on one platform.
package struct SilentPushState: Sendable, Hashable {
    /// The number of pushes that were granted.
    package var sequence: Int64
    /// When the last one was granted.
    package var pushedAt: Timestamp
    /// The notification that it named; `nil` after it was released, and for a reminder.
    package var pushedID: NotificationID?
    /// The newest notification that waits for the next push.
    package var waitingID: NotificationID?

    package init(sequence: Int64, pushedAt: Timestamp, pushedID: NotificationID?, waitingID: NotificationID? = nil) {
        self.sequence = sequence
        self.pushedAt = pushedAt
        self.pushedID = pushedID
        self.waitingID = waitingID
    }

    /// How long others wait for the newest waiting notification once the next push may be sent. That notification may
    /// have been revoked, or another dispatcher may have it.
    package static let gracePeriod = Duration.seconds(10)

    /// The state after the first push of a recipient on a platform.
    package static func first(_ request: SilentPushRequest, now: Timestamp) -> SilentPushState {
        SilentPushState(sequence: 1, pushedAt: now, pushedID: request.isReminder ? nil : request.id)
    }

    /// When the next push may be sent. A time in the future, from a clock that was ahead, counts as `now`.
    package func next(interval: Duration, now: Timestamp) -> Timestamp { min(pushedAt, now) + interval }

    /// Whether the last push covers a notification: it was granted after the notification had begun to wait, and names
    /// a newer one. The device fetches its inbox when it is woken, so it finds both.
    ///
    /// - Parameter sequence: ``SilentPushRequest/sequence``.
    package func covers(_ id: NotificationID, waitingSince sequence: Int64?) -> Bool {
        guard let sequence, let pushedID else { return false }
        return sequence < self.sequence && id < pushedID
    }

    /// Decides about a request.
    ///
    /// A push is granted if the interval since the last one has passed. If a newer notification is waiting, that one is
    /// sent first, because the push has to name the newest.
    ///
    /// - Returns: the answer, and the state after it. The state of a refusal is the one before.
    package func admitting(
        _ request: SilentPushRequest, interval: Duration, now: Timestamp
    ) -> (admission: SilentPushAdmission, state: SilentPushState) {
        if covers(request.id, waitingSince: request.sequence) { return (.refused(self), self) }
        let next = next(interval: interval, now: now)
        let yields = waitingID.map { $0 > request.id && now < next + Self.gracePeriod } ?? false
        var state = self
        guard next <= now, !yields else {
            state.pushedAt = min(pushedAt, now)
            state.waitingID = waitingID.map { max($0, request.id) } ?? request.id
            return (.refused(self), state)
        }
        state = Self.first(request, now: now)
        state.sequence = sequence + 1
        return (.granted(SilentPushGrant(key: request.key, sequence: state.sequence)), state)
    }

    /// The state after a release: the next push may be sent at once.
    ///
    /// - Returns: `nil` if the grant is not the newest.
    package func releasing(_ release: SilentPushRelease, interval: Duration, now: Timestamp) -> SilentPushState? {
        guard release.grant.sequence == sequence else { return nil }
        var state = self
        state.pushedAt = now - interval
        state.pushedID = nil
        if release.isOwed, let pushedID { state.waitingID = waitingID.map { max($0, pushedID) } ?? pushedID }
        return state
    }
}
