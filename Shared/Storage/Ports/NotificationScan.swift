import Domain

/// A page of notifications, newest first, which matches some of a bounded number of rows along an index.
///
/// Decision: docs/decisions/0012-pages-examine-bounded-rows.md
struct NotificationScan {
    /// The rows, as a range of an index. The columns before the ID are compared as a range too: with equality,
    /// PostgreSQL's planner may choose to walk along the primary key, past the rows of all others. Only one index has
    /// the order of the range.
    let range: SQL
    let order: String
    /// Which of them are in the page.
    let match: SQL
    let limit: Int
    /// How many rows one page scans before it ends early and says where to continue: this bounds the time of any query.
    var maxScan = NotificationCensus.maxScan

    /// The rows are numbered, and the last row of a scan that reached its limit is returned whether it matches or not.
    /// One row more than asked for shows whether there are more.
    var sql: SQL {
        let (columns, scan) = ("\(NotificationRecord.columns), sender", "\(maxScan)")
        return """
            SELECT is_match, position = \(raw: scan), \(raw: columns)
            FROM (
                SELECT \(raw: columns), row_number() OVER () AS position, \(match) AS is_match
                FROM (
                    SELECT \(raw: columns) FROM notifications WHERE \(range)
                    ORDER BY \(raw: order) LIMIT \(raw: scan)
                ) AS newest
            ) AS seen
            WHERE is_match OR position = \(raw: scan)
            LIMIT \(limit + 1)
            """
    }
}

extension SQLStore {
    func page(_ scan: NotificationScan) async throws -> OperatorPage {
        guard scan.limit > 0 else { return OperatorPage(entries: [], next: nil) }
        let rows = try await all(scan.sql) { row in try ScannedRow(&row) }
        var page = OperatorPage(entries: [], next: nil)
        for row in rows {
            if let entry = row.entry {
                if page.entries.count == scan.limit {
                    page.next = page.entries.last?.record.id
                    return page
                }
                page.entries.append(entry)
            }
            if row.isScanEnd { page.next = row.id }
        }
        return page
    }
}

private struct ScannedRow {
    let id: NotificationID
    /// `nil` for the last row of a scan that does not match.
    let entry: OperatorPage.Entry?
    let isScanEnd: Bool

    init(_ row: inout SQLRow) throws {
        let (isMatch, isScanEnd): (Bool, Bool) = (try row(), try row())
        self.isScanEnd = isScanEnd
        if isMatch {
            let entry = OperatorPage.Entry(record: try NotificationRecord(&row), sender: try row())
            (id, self.entry) = (entry.record.id, entry)
        } else {
            (id, entry) = (try row(), nil)
        }
    }
}
