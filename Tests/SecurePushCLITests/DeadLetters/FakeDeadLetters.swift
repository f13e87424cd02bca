import Domain
import Foundations

/// A dead-letter queue in memory: what is held comes back in its place when it is closed.
actor FakeDeadLetterQueue: DeadLetterQueue {
    private var waiting: [DeadLetter]
    private var held: [DeadLetter] = []
    private(set) var isClosed = false

    init(_ letters: [DeadLetter]) { waiting = letters }

    /// What is in the broker, held or not.
    var letters: [DeadLetter] { (held + waiting).sorted { $0.tag < $1.tag } }

    func count() -> Int { waiting.count }

    func next() -> DeadLetter? {
        if waiting.isEmpty { return nil }
        held.append(waiting.removeFirst())
        return held.last
    }

    func remove(_ letter: DeadLetter) { held.removeAll { $0.tag == letter.tag } }

    func purge() -> Int {
        defer { waiting = [] }
        return waiting.count
    }

    func close() {
        waiting = letters
        held = []
        isClosed = true
    }
}

/// Keeps what is published, or refuses it.
actor FakeDispatchPublisher: DispatchPublisher {
    private(set) var published: [DispatchMessage] = []
    private let refuses: @Sendable (Int) -> Bool

    /// - Parameter refuses: whether the message of this number, from 0, is not confirmed.
    init(refuses: @escaping @Sendable (Int) -> Bool = { _ in false }) { self.refuses = refuses }

    nonisolated var isConnected: Bool { true }

    func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) -> [Result<Void, MessagingError>] {
        messages.map { message, route in
            guard route == .dispatch, !refuses(published.count) else {
                return .failure(MessagingError(.nacked, "refused"))
            }
            published.append(message)
            return .success(())
        }
    }
}

extension DeadLetter {
    static func sample(
        _ tag: UInt64, _ id: NotificationID?, _ platforms: [Platform]? = [.fcmv1], reason: String = "out of attempts"
    ) -> DeadLetter {
        let message = id.map {
            DispatchMessage(id: $0, platforms: platforms, attempt: 9, traceparent: "00-4bf9-00f0-01")
        }
        return DeadLetter(tag: tag, message: message, reason: reason, byteCount: id == nil ? 7 : 36)
    }
}

extension Store {
    /// Adds a notification that apple took and fcmv1 was given up for.
    func addGivenUp(expiresIn: Duration = .seconds(3600)) async throws -> NotificationID {
        let id = NotificationID()
        let notification = Notification(
            id: id, sender: "tests", recipient: UserName("alice")!, createdAt: .now, expiresAt: .now + expiresIn)
        try await append([
            SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
        ])
        let attempt = try await claim([id], now: .now)[id]?.attempt ?? 0
        let deliveries = [
            Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: .now),
            Delivery(platform: .fcmv1, state: .dead, attempts: 10, error: "503", updatedAt: .now),
        ]
        try await record([DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)])
        return id
    }
}
