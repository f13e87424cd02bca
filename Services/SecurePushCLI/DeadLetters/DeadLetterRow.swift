import SecurePushCore

/// A dead letter as it is listed; never anything of a payload, nor the body of one that cannot be read.
struct DeadLetterRow: Encodable, Sendable, Equatable {
    /// `nil` for one that cannot be read.
    var Id: String?
    var Reason: String
    /// `nil` where the letter names none: all that are owed.
    var Platforms: [String]?
    var Attempt: Int?
    /// When the notification was accepted.
    var CreatedAt: String?
    /// When the last of its platforms was given up, as the store has it.
    var DeadAt: String?
    var Recipient: String?
    /// `unknown` where the store has no such notification; `nil` without a store.
    var Status: String?
    /// The length of a body that cannot be read.
    var Bytes: Int?
    private var age: String

    private enum CodingKeys: String, CodingKey {
        case Id, Reason, Platforms, Attempt, CreatedAt, DeadAt, Recipient, Status, Bytes
    }

    /// - Parameter records: what the store knows; `nil` without a store.
    init(_ letter: DeadLetter, records: [NotificationID: NotificationRecord]?, now: Timestamp) {
        Reason = letter.reason
        guard let message = letter.message else {
            Bytes = letter.byteCount
            age = "-"
            return
        }
        Id = message.id.description
        Platforms = message.platforms?.map(\.rawValue)
        Attempt = message.attempt
        CreatedAt = message.id.timestamp.description
        var since = message.id.timestamp
        if let records {
            let record = records[message.id]
            Status = record?.status(at: now).rawValue ?? "unknown"
            Recipient = record?.recipient.text
            if let deadAt = record?.deliveries.filter({ $0.state == .dead }).map(\.updatedAt).max() {
                DeadAt = deadAt.description
                since = deadAt
            }
        }
        age = max(.zero, now - since).spoken
    }

    static func table(_ rows: [DeadLetterRow]) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["ID", "AGE", "ATTEMPT", "PLATFORMS", "STATUS", "RECIPIENT", "REASON"])
        for row in rows {
            table.add([
                row.Id ?? "unreadable, \(row.Bytes ?? 0) bytes", row.age, row.Attempt.map { "\($0)" } ?? "-",
                row.Id == nil ? "-" : row.Platforms?.joined(separator: ",").oneLine ?? "all", row.Status ?? "-",
                row.Recipient?.oneLine ?? "-", row.Reason.oneLine,
            ])
        }
        return table.lines
    }
}
