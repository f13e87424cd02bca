import SecurePushCore

/// A fixed time, so that stored milliseconds can be compared.
let noon = Timestamp(milliseconds: 1_795_262_400_123)

extension UserName {
    static let alice = UserName("alice")!
    static let bob = UserName("bob")!
}

extension SealedNotification {
    /// A notification with a payload that only looks sealed.
    static func sample(
        _ id: NotificationID = NotificationID(at: noon), to recipient: UserName = .alice,
        createdAt: Timestamp = noon, notBefore: Timestamp? = nil, traceparent: String? = nil,
        payload: [UInt8] = [1, 2, 3]
    ) -> SealedNotification {
        SealedNotification(
            notification: Notification(
                id: id, sender: "tests", recipient: recipient, createdAt: createdAt,
                expiresAt: createdAt + .seconds(3600), notBefore: notBefore, traceparent: traceparent),
            payload: SealedPayload(keyID: "k1", bytes: payload))
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

/// When every sample's outbox entry is due.
let due = noon + .seconds(1000)
