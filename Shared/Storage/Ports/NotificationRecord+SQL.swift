import Domain
import Foundations

extension NotificationRecord {
    static let columns = """
        id, recipient, created_at, expires_at, not_before, platforms, status, deliveries, read_at, revoked_at, shown_at
        """

    /// Reads ``columns``.
    init(_ row: inout SQLRow) throws {
        self.init(
            id: try row(), recipient: try row(), createdAt: try row(), expiresAt: try row(), notBefore: try row(),
            platforms: try row.mapIfPresent(StorageCoding.decodePlatforms), dispatchStatus: try row(),
            deliveries: try row.mapIfPresent(StorageCoding.decodeDeliveries) ?? [], readAt: try row(),
            revokedAt: try row(), shownAt: try row())
    }

    /// The tables of ``columnsWithFollowUps``.
    static let tables = "notifications AS n LEFT JOIN answers AS a ON a.notification_id = n.id"

    /// ``columns`` of a notification `n`, the state of its follow-ups, and its answer `a` without the text.
    static let columnsWithFollowUps: String = {
        let find = { (column: String, kind: FollowUp.Kind) in
            "(SELECT f.\(column) FROM follow_ups AS f WHERE f.notification_id = n.id AND f.kind = \(kind.code))"
        }
        return [
            columns, find("deliveries", .withdrawal), "n.remind IS NOT NULL", find("sent", .reminder),
            find("due_at", .reminder), "coalesce(a.wrong_challenges, 0)", Answer.columns,
        ].joined(separator: ", ")
    }()

    /// Reads ``columnsWithFollowUps``.
    init(withFollowUps row: inout SQLRow) throws {
        let record = try NotificationRecord(&row)
        let withdrawals = try row.mapIfPresent(StorageCoding.decodeDeliveries) ?? []
        let (hasReminders, sent, due): (Bool, Int?, Int64?) = (try row(), try row(), try row())
        let next = try due.flatMap { $0 == FollowUpRow.never ? nil : $0 }
            .map { try Timestamp(stored: $0, column: "due_at") }
        self = record.adding(withdrawals: withdrawals, reminders: hasReminders ? (sent ?? 0, next) : nil)
        let wrong: Int = try row()
        if let given = try Answer(&row) {
            answer = .given(given)
        } else if wrong >= Question.maxWrongChallenges {
            answer = .failed
        }
    }
}

extension SQL.StringInterpolation {
    /// Whether a column has a text that this program writes, such as ``StorageCoding/sent``. In the text of an error
    /// the quotes are escaped.
    mutating func appendInterpolation(_ text: String, isIn column: String) {
        appendInterpolation(raw: "\(column) LIKE '%\(text)%'")
    }
}
