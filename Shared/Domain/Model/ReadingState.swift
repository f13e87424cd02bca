package import Foundations

/// The values that decide whether a notification's recipient can read it, and how much of it the device may show.
package struct ReadingState: Sendable, Hashable {
    /// From this time on it is not readable.
    package var expiresAt: Timestamp
    /// Before this time it does not exist for its recipient.
    package var notBefore: Timestamp?
    /// Whether the sender has revoked it.
    package var isRevoked: Bool
    /// Whether a device has read it.
    package var isRead: Bool
    /// See ``Notification/display``.
    package var display: Display

    package init(
        expiresAt: Timestamp, notBefore: Timestamp? = nil, isRevoked: Bool = false, isRead: Bool = false,
        display: Display = .full
    ) {
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.isRevoked = isRevoked
        self.isRead = isRead
        self.display = display
    }

    /// The result of a recipient's fetch.
    package enum Access: Sendable, Hashable {
        /// Nothing: its `NotBefore` is in the future. It looks like an unknown ID, even if it was revoked.
        case absent
        /// It was there, and the sender has revoked it.
        case revoked
        /// It was there, and has expired.
        case expired
        /// It can be read.
        case readable
    }

    /// The result of a recipient's fetch at a time.
    package func access(at now: Timestamp) -> Access {
        if let notBefore, notBefore > now { return .absent }
        if isRevoked { return .revoked }
        return expiresAt <= now ? .expired : .readable
    }

    /// Whether it counts as unread in the inbox at a time.
    package func isUnread(at now: Timestamp) -> Bool { !isRead && access(at: now) == .readable }
}

extension StoredNotification {
    /// The values that decide whether its recipient can read it.
    package var state: ReadingState {
        ReadingState(
            expiresAt: expiresAt, notBefore: notBefore, isRevoked: isRevoked, isRead: readAt != nil,
            display: display)
    }
}
