import Domain
import Foundations

/// A fixed time, so that stored milliseconds can be compared.
let noon = Timestamp(milliseconds: 1_795_262_400_123)

extension UserName {
    static let alice = UserName("alice")!
    static let bob = UserName("bob")!
}

extension SealedNotification {
    /// A notification with a payload that only looks sealed.
    static func sample(
        _ id: NotificationID = NotificationID(at: noon), from sender: String = "tests",
        to recipient: UserName = .alice, createdAt: Timestamp = noon, expiresAt: Timestamp? = nil,
        notBefore: Timestamp? = nil, traceparent: String? = nil, payload: [UInt8] = [1, 2, 3], remind: [Duration] = [],
        display: Display = .full, question: Question? = nil
    ) -> SealedNotification {
        SealedNotification(
            notification: Notification(
                id: id, sender: sender, recipient: recipient, createdAt: createdAt,
                expiresAt: expiresAt ?? createdAt + .seconds(3600), notBefore: notBefore, traceparent: traceparent,
                remind: remind, display: display),
            payload: SealedPayload(keyID: "k1", bytes: payload), question: question)
    }

    /// Samples whose IDs and times are a second apart, the oldest first.
    static func samples(_ count: Int) -> [SealedNotification] {
        (0..<count).map { index in
            let time = noon + .seconds(index)
            return .sample(NotificationID(at: time), createdAt: time)
        }
    }

    var id: NotificationID { notification.id }
}

extension IdempotentRequest {
    /// A request whose answer names what was stored, as ingest's answers do.
    static func sample(
        _ value: String = "key-1", sender: String = "tests", line: Int = 0, of sent: [SealedNotification],
        fingerprint: [UInt8] = [9, 0, 255], expiresAt: Timestamp = noon + .seconds(86400)
    ) -> IdempotentRequest {
        let location = sent.count == 1 ? "/api/notifications/\(sent[0].id)" : nil
        return IdempotentRequest(
            key: Key(sender: sender, value: value, line: line), fingerprint: fingerprint,
            answer: Answer(location: location, body: Array(sent.map { "\($0.id)" }.joined(separator: ",").utf8)),
            expiresAt: expiresAt)
    }
}

extension Delivery {
    static func sample(_ platform: Platform, _ state: DeliveryState) -> Delivery {
        Delivery(platform: platform, state: state, attempts: 1, updatedAt: noon)
    }
}

extension Store {
    /// Stores a notification, and claims it for its first attempt.
    func appendClaimed(
        _ sent: SealedNotification = .sample(), at now: Timestamp = noon
    ) async throws -> SealedNotification {
        try await append([sent])
        _ = try await claim([sent.id], now: now)
        return sent
    }
}

/// When every sample's outbox entry is due.
let due = noon + .seconds(1000)
