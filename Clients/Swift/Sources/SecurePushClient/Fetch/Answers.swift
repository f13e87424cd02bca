import Foundation
import SecurePushEnvelope

/// The answer to `GET /api/notifications/{id}`.
struct SecretAnswer: Sendable {
    let secret: SecretNotification
    /// How many notifications the user has not read; `nil` if the server did not say.
    let unread: Int?

    /// Reads the answer.
    ///
    /// - Parameter id: the ID that was asked for.
    /// - Throws: ``InvalidAnswer``.
    init(_ data: Data, for id: PushID) throws(InvalidAnswer) {
        (secret, unread) = try AnswerObject.read(data) { answer in
            (try AnswerObject.require(SecretNotification(answer)), try answer.count("Unread"))
        }
        guard secret.id == id else { throw InvalidAnswer(code: .wrongID) }
    }
}

/// A page of `GET /api/notifications`.
struct InboxAnswer: Sendable {
    struct Entry: Sendable {
        let id: PushID
        /// The secret, if the server sent payloads.
        let secret: SecretNotification?
        let createdAt: Date?
        let isRead: Bool
    }

    let entries: [Entry]
    let unread: Int
    /// Whether there is another page.
    let hasNext: Bool

    /// Reads the answer.
    ///
    /// - Throws: ``InvalidAnswer``.
    init(_ data: Data) throws(InvalidAnswer) {
        (entries, unread, hasNext) = try AnswerObject.read(data) { answer in
            let entries = try answer.elements("Notifications", atMost: Self.maxEntries).map { entry in
                Entry(
                    id: try entry.pushID(), secret: try SecretNotification(entry), createdAt: entry.date("CreatedAt"),
                    isRead: try entry.boolean("Read") ?? false)
            }
            return (entries, try AnswerObject.require(answer.count("Unread")), answer["Next"] != nil)
        }
    }

    /// The most that the server sends on a page.
    static let maxEntries = 200
}

/// An answer that cannot be used.
struct InvalidAnswer: Error {
    let code: DiagnosticCode
}

extension SecretNotification {
    /// `nil` if the members have no payload.
    fileprivate init?(_ answer: AnswerObject) throws {
        guard let payload = answer["Payload"] else { return nil }
        self.init(
            id: try answer.pushID(), message: payload.text.map { PushMessage(body: $0) },
            json: String(decoding: payload.json, as: UTF8.self), wasRead: try answer.boolean("Read") ?? false)
        // A mode of a later server is stricter than those that are known.
        if let mode = try answer.text("Display") { display = DisplayMode(rawValue: mode) ?? .app }
        expiresAt = answer.date("ExpiresAt")
    }
}
