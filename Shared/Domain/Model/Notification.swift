package import Foundations

/// A notification as accepted from a sender, without its payload: everything that is needed to wake the recipient's
/// devices.
package struct Notification: Sendable, Hashable {
    /// Its ID, the only part that leaves this system.
    package var id: NotificationID
    /// The name of the API key that sent it, or `user:NAME` if a user sent it with "Send push".
    package var sender: String
    /// The user whose devices are woken.
    package var recipient: UserName
    package var presentation: Presentation
    /// The generic text of an alert; `nil` shows ``AlertText/generic``.
    package var alert: AlertText?
    /// The platforms to wake; `nil` for all that the dispatcher serves (`HUB_PLATFORMS`).
    package var platforms: [Platform]?
    /// When it was accepted.
    package var createdAt: Timestamp
    /// From this time on it is neither sent nor readable.
    package var expiresAt: Timestamp
    /// Whether the sender set the expiry, so that it limits the push too (`apns-expiration`, `ttl`, `X-WNS-TTL`). An
    /// expiry that only comes from `RETENTION` does not.
    package var expiryBoundsPush: Bool
    /// It is not sent before this time.
    package var notBefore: Timestamp?
    /// At most 64 bytes. A later push with the same key replaces an earlier one on the device.
    package var collapseKey: String?
    /// The urgency for Android devices.
    package var priority: Priority?
    /// W3C Trace Context, from the sender or created at acceptance.
    package var traceparent: String?
    /// The time from each push to the next reminder; empty if there are none. See ``FollowUpPolicy/reminderCount``.
    package var remind: [Duration]
    /// How much devices may show outside the app.
    package var display: Display

    package init(
        id: NotificationID = NotificationID(), sender: String, recipient: UserName,
        presentation: Presentation = .silent, alert: AlertText? = nil, platforms: [Platform]? = nil,
        createdAt: Timestamp = .now, expiresAt: Timestamp, expiryBoundsPush: Bool = false, notBefore: Timestamp? = nil,
        collapseKey: String? = nil, priority: Priority? = nil, traceparent: String? = nil, remind: [Duration] = [],
        display: Display = .full
    ) {
        self.id = id
        self.sender = sender
        self.recipient = recipient
        self.presentation = presentation
        self.alert = alert
        self.platforms = platforms
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.expiryBoundsPush = expiryBoundsPush
        self.notBefore = notBefore
        self.collapseKey = collapseKey
        self.priority = priority
        self.traceparent = traceparent
        self.remind = remind
        self.display = display
    }
}

/// A notification and its sealed payload, which one `append` makes durable together.
package struct SealedNotification: Sendable, Hashable {
    package var notification: Notification
    package var payload: SealedPayload
    /// Whether its row is stored with the first attempt claimed, for the dispatcher that gets its first message
    /// (``DispatchMessage/isFirst``). Only for a notification that is published at once.
    package var claimsFirstAttempt: Bool
    /// The answers that its recipient may give; `nil` for none.
    package var question: Question?

    package init(
        notification: Notification, payload: SealedPayload, claimsFirstAttempt: Bool = false, question: Question? = nil
    ) {
        self.notification = notification
        self.payload = payload
        self.claimsFirstAttempt = claimsFirstAttempt
        self.question = question
    }
}

/// A payload sealed with AES-256-GCM.
package struct SealedPayload: Sendable, Hashable {
    /// The ID of the key; see ``PayloadKeyRing/Key/id``.
    package var keyID: String
    /// The nonce (12 bytes), the ciphertext and the tag (16 bytes).
    package var bytes: [UInt8]

    package init(keyID: String, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }

    /// The bytes of the payload after it is opened: without the nonce and the tag.
    package var openedCount: Int { max(0, bytes.count - Self.overhead) }

    /// The bytes of the nonce and the tag.
    package static let overhead = 12 + 16
}

/// A notification as its recipient's device reads it.
package struct StoredNotification: Sendable, Hashable {
    package var id: NotificationID
    /// When it was accepted.
    package var createdAt: Timestamp
    /// From this time on it is not readable.
    package var expiresAt: Timestamp
    /// Before this time it does not exist for its recipient.
    package var notBefore: Timestamp?
    /// When a device first read it.
    package var readAt: Timestamp?
    /// Whether the sender has revoked it.
    package var isRevoked: Bool
    /// The payload; `nil` after it was revoked or purged.
    package var payload: SealedPayload?
    /// See ``Notification/traceparent``.
    package var traceparent: String?
    /// See ``Notification/display``.
    package var display: Display

    package init(
        id: NotificationID, createdAt: Timestamp, expiresAt: Timestamp, notBefore: Timestamp? = nil,
        readAt: Timestamp?, isRevoked: Bool, payload: SealedPayload?, traceparent: String? = nil,
        display: Display = .full
    ) {
        self.id = id
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.readAt = readAt
        self.isRevoked = isRevoked
        self.payload = payload
        self.traceparent = traceparent
        self.display = display
    }
}

/// How a device is woken.
package enum Presentation: String, Sendable, CaseIterable {
    /// A silent push that lets the app fetch the payload in the background, as in the tutorial.
    case silent
    /// A generic text that a notification service extension replaces with the payload.
    case alert
}

/// The generic text of an ``Presentation/alert``; never anything of the payload.
package struct AlertText: Sendable, Hashable {
    /// The first line.
    package var title: String?
    /// The text below it.
    package var body: String?

    package init(title: String? = nil, body: String? = nil) {
        self.title = title
        self.body = body
    }

    /// The text that is shown if the sender gave none.
    package static let generic = AlertText(title: "New message", body: "Open the app to read it.")

    /// The maximum size of the payload of an alert in bytes (APNs, "Generating a remote notification").
    package static let maxApplePayloadBytes = 4096

    /// The size in bytes of the APNs payload that shows this text: the JSON of the text and everything around it.
    package var applePayloadBytes: Int {
        let text = title == nil && body == nil ? AlertText.generic : self
        let frame = #"{"aps":{"alert":{},"mutable-content":1},"secureId":"01234567-89ab-7cde-8f01-23456789abcd"}"#
        var count = frame.utf8.count
        if let title = text.title { count += #""title":"#.utf8.count + JSONText.quoted(title).utf8.count }
        if let body = text.body { count += #""body":"#.utf8.count + JSONText.quoted(body).utf8.count }
        return text.title != nil && text.body != nil ? count + 1 : count
    }
}

/// The urgency for Android devices (`android.priority`, FCM HTTP v1).
package enum Priority: String, Sendable, CaseIterable {
    case normal
    case high
}

/// A request with an `Idempotency-Key`, as the store keeps it: what identifies a repeated request, and the answer that
/// a repeated request gets.
package struct IdempotentRequest: Sendable, Hashable {
    /// A key with the scope in which it is unique.
    package struct Key: Sendable, Hashable {
        /// As ``Notification/sender``. Two senders may use the same key.
        package var sender: String
        /// The value of the header: 1 to 255 visible ASCII characters.
        package var value: String
        /// The line of a batch, from 1; 0 for a single request.
        package var line: Int

        package init(sender: String, value: String, line: Int = 0) {
            self.sender = sender
            self.value = value
            self.line = line
        }
    }

    package var key: Key
    /// Identifies the body without revealing it; see ``PayloadSealer/fingerprint(of:context:)``.
    package var fingerprint: [UInt8]
    /// The answer to the first request.
    package var answer: Answer
    /// From this time on the key can be used for another request.
    package var expiresAt: Timestamp

    /// The answer to the first request; its status is always 201.
    package struct Answer: Sendable, Hashable {
        /// The value of `Location`.
        package var location: String?
        package var body: [UInt8]

        package init(location: String?, body: [UInt8]) {
            self.location = location
            self.body = body
        }
    }

    package init(key: Key, fingerprint: [UInt8], answer: Answer, expiresAt: Timestamp) {
        self.key = key
        self.fingerprint = fingerprint
        self.answer = answer
        self.expiresAt = expiresAt
    }
}

extension IdempotentRequest.Key {
    /// Compares byte for byte, because a sender may be a user, and users' names are compared so.
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.line == rhs.line && lhs.value.utf8.elementsEqual(rhs.value.utf8)
            && lhs.sender.utf8.elementsEqual(rhs.sender.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(line)
        for text in [sender, value] {
            hasher.combine(text.utf8.count)
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}
