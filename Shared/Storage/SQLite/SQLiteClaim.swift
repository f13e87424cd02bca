import Foundation
import GRDB
import SecurePushCore

/// A claimed notification: its plan, and its deliveries as they are stored. They are read after the commit, so that one
/// that cannot be read does not undo the claims of others.
struct SQLiteClaim: Sendable {
    private var plan: DispatchPlan
    private var deliveries: String?

    /// The last number of a claim, as in PostgreSQL, whose column has 32 bits. A sum past 64 bits would be no whole
    /// number any more in SQLite.
    private static let maxAttempt = Int(Int32.max)

    /// Counts up the attempt of a notification and reads its plan; `nil` for an unknown ID.
    static func make(_ id: NotificationID, now: Timestamp, _ db: Database) throws -> SQLiteClaim? {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE notifications SET attempt = min(attempt, \(maxAttempt - 1)) + 1, claimed_at = ?,
                    status = max(status, \(DispatchStatus.queued.rawValue))
                WHERE id = ?
                RETURNING recipient, presentation, alert_title, alert_body, platforms, expires_at, collapse_key,
                    priority, traceparent, revoked_at, attempt, deliveries, bounds_push, recorded_attempt
                """)
        guard let row = try Row.fetchOne(statement, arguments: [now.milliseconds, id.data]) else { return nil }
        return try SQLiteClaim(id, row)
    }

    private init(_ id: NotificationID, _ row: Row) throws {
        let presentation: Int = row[1]
        let alert = AlertText(title: row[2], body: row[3])
        let platforms: String? = row[4]
        let priority: String? = row[7]
        let revokedAt: Int64? = row[9]
        let attempt = max(1, row[10] as Int)
        deliveries = row[11]
        // Not in SQL, as where a row is read: `IS NULL` is wrong in what an UPDATE of a table without row IDs returns
        // (SQLite 3.40).
        let recorded = min(max(0, row[13] ?? (deliveries == nil ? 0 : attempt - 1)), Self.maxAttempt)
        plan = DispatchPlan(
            id: id, recipient: try row.userName(0, column: "recipient"),
            presentation: presentation == 1 ? .alert : .silent, alert: alert == AlertText() ? nil : alert,
            platforms: platforms.map(Platform.platforms(list:)),
            expiresAt: row.timestamp(5) ?? Timestamp(milliseconds: 0), boundsPush: row[12], collapseKey: row[6],
            priority: priority.flatMap(Priority.init(rawValue:)), traceparent: row[8], isRevoked: revokedAt != nil,
            attempt: attempt, unrecordedClaims: max(0, attempt - 1 - recorded))
    }

    /// The plan with its deliveries.
    func dispatchPlan() throws -> DispatchPlan {
        guard let deliveries else { return plan }
        var plan = plan
        plan.deliveries = try DeliveriesCoding.decode(deliveries)
        return plan
    }
}
