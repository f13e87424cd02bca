import Foundation

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
        do {
            (secret, unread) = try AnswerReader.read(data) { reader, span in
                let members = try reader.members(span)
                guard let secret = try SecretNotification(members, reader) else { throw AnswerReader.Malformed() }
                return (secret, try members["Unread"].map(reader.count))
            }
        } catch {
            throw InvalidAnswer(code: .malformedAnswer)
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
        do {
            (entries, unread, hasNext) = try AnswerReader.read(data) { reader, span in
                let members = try reader.members(span)
                guard let list = members["Notifications"], let unread = members["Unread"] else {
                    throw AnswerReader.Malformed()
                }
                let entries = try reader.elements(list, atMost: Self.maxEntries).map { element in
                    let members = try reader.members(element)
                    guard let id = try members["Id"].map(reader.string).flatMap({ PushID($0) }) else {
                        throw AnswerReader.Malformed()
                    }
                    return Entry(
                        id: id, secret: try SecretNotification(members, reader),
                        createdAt: try members["CreatedAt"].flatMap(reader.date),
                        isRead: try members["Read"].map(reader.boolean) ?? false)
                }
                return (entries, try reader.count(unread), members["Next"] != nil)
            }
        } catch {
            throw InvalidAnswer(code: .malformedAnswer)
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
    fileprivate init?(_ members: AnswerReader.Members, _ reader: AnswerReader) throws {
        guard let payload = members["Payload"] else { return nil }
        guard let id = try members["Id"].map(reader.string).flatMap({ PushID($0) }) else {
            throw AnswerReader.Malformed()
        }
        self.init(
            id: id, message: reader.isString(payload) ? PushMessage(body: try reader.string(payload)) : nil,
            json: reader.json(payload),
            wasRead: try members["Read"].map(reader.boolean) ?? false)
        // A mode of a later server is stricter than those that are known.
        if let mode = members["Display"] { display = DisplayMode(rawValue: try reader.string(mode)) ?? .app }
        expiresAt = try members["ExpiresAt"].flatMap(reader.date)
    }
}
