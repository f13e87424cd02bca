import Domain

extension DispatchPlan {
    // No `IS NULL`: in RETURNING of an UPDATE of a table without row IDs it gives wrong results (SQLite 3.40).
    static let columns = """
        recipient, presentation, alert_title, alert_body, platforms, expires_at, bounds_push, collapse_key, priority,
            traceparent, revoked_at
        """

    /// Reads ``columns``.
    init(_ id: NotificationID, _ row: inout SQLRow) throws {
        let (recipient, presentation): (UserName, Presentation) = (try row(), try row())
        let alert = AlertText(title: try row(), body: try row())
        self.init(
            id: id, recipient: recipient, presentation: presentation, alert: alert == AlertText() ? nil : alert,
            platforms: try row.mapIfPresent(StorageCoding.decodePlatforms), expiresAt: try row(),
            expiryBoundsPush: try row(), collapseKey: try row(),
            priority: (try row() as Int16?).flatMap(Priority.init(code:)), traceparent: try row(),
            isRevoked: (try row() as Int64?) != nil)
    }
}

extension Presentation: SQLDecodable {
    init?(sql value: SQLValue) {
        guard let code = Int16(sql: value) else { return nil }
        self.init(code: code)
    }
}
