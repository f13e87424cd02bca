import Foundation
import GRDB
import SecurePushCore

/// A claimed notification: its plan, and its deliveries as they are stored. They are decoded after the commit, because
/// nobody else waits for that.
struct SQLiteClaim: Sendable {
    private var plan: DispatchPlan
    private var deliveries: String?

    /// Counts up the attempt of a notification and reads its plan; `nil` for an unknown ID.
    ///
    /// - Returns: a failure for a row that cannot be read.
    /// - Throws: what the database refuses; only that undoes the transaction, which others share.
    static func make(
        _ id: NotificationID, now: Timestamp, _ db: Database
    ) throws -> Result<SQLiteClaim, StorageError>? {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE notifications SET attempt = min(attempt, \(Int32.max - 1)) + 1, claimed_at = ?,
                    status = max(status, \(DispatchStatus.queued.rawValue))
                WHERE id = ?
                RETURNING recipient, presentation, alert_title, alert_body, platforms, expires_at, collapse_key,
                    priority, traceparent, revoked_at, attempt, deliveries, bounds_push, recorded_attempt
                """)
        guard let row = try Row.fetchOne(statement, arguments: [now.milliseconds, id.data]) else { return nil }
        return Result { try SQLiteClaim(id, row) }.mapError { StorageError($0) }
    }

    private init(_ id: NotificationID, _ row: Row) throws {
        let code: Int16 = try row.value(1, column: "presentation")
        guard let presentation = Presentation(code: code) else { throw Row.unreadable("presentation") }
        let alert = AlertText(
            title: try row.valueIfPresent(2, column: "alert_title"),
            body: try row.valueIfPresent(3, column: "alert_body"))
        let platforms: String? = try row.valueIfPresent(4, column: "platforms")
        let priority: String? = try row.valueIfPresent(7, column: "priority")
        let revokedAt: Int64? = try row.valueIfPresent(9, column: "revoked_at")
        // Within 32 bits, so that no arithmetic with them overflows.
        let attempt: Int32 = try row.value(10, column: "attempt")
        let recorded: Int32? = try row.valueIfPresent(13, column: "recorded_attempt")
        deliveries = try row.valueIfPresent(11, column: "deliveries")
        // Not in SQL, as where a row is read: `IS NULL` is wrong in what an UPDATE of a table without row IDs returns
        // (SQLite 3.40).
        let newest = recorded.map(Int.init) ?? (deliveries == nil ? 0 : Int(attempt) - 1)
        plan = DispatchPlan(
            id: id, recipient: try row.userName(0, column: "recipient"), presentation: presentation,
            alert: alert == AlertText() ? nil : alert, platforms: platforms.map(Platform.platforms(list:)),
            expiresAt: try Timestamp(stored: try row.value(5, column: "expires_at"), column: "expires_at"),
            expiryBoundsPush: try row.value(12, column: "bounds_push"),
            collapseKey: try row.valueIfPresent(6, column: "collapse_key"),
            priority: priority.flatMap(Priority.init(rawValue:)),
            traceparent: try row.valueIfPresent(8, column: "traceparent"), isRevoked: revokedAt != nil,
            attempt: Int(attempt), unrecordedClaims: max(0, Int(attempt) - 1 - newest))
    }

    /// The plan with its deliveries.
    func dispatchPlan() throws -> DispatchPlan {
        guard let deliveries else { return plan }
        var plan = plan
        plan.deliveries = try DeliveriesCoding.decode(deliveries)
        return plan
    }
}
