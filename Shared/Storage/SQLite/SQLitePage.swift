import Foundation
import GRDB
import SecurePushCore

/// One reading of a sender's list.
struct SQLitePage: Sendable {
    var query: NotificationQuery
    var now: Timestamp

    /// How many rows one call looks through for those that are asked for: some ten milliseconds.
    static var scanLimit: Int { 10_000 }

    func execute(_ db: Database, scanLimit: Int = scanLimit) throws -> NotificationPage {
        let before = query.before ?? NotificationID(high: .max, low: .max)
        let rows: RowCursor
        if let recipient = query.recipient {
            let statement = try db.cachedStatement(sql: Self.toRecipient)
            rows = try Row.fetchCursor(
                statement, arguments: [query.sender, recipient.text, before.data, scanLimit + 1])
        } else {
            let statement = try db.cachedStatement(sql: Self.ofSender)
            rows = try Row.fetchCursor(statement, arguments: [query.sender, before.data, scanLimit + 1])
        }
        var records: [NotificationRecord] = []
        var seen = 0
        var last: NotificationID?
        while let row = try rows.next() {
            if seen == scanLimit { return NotificationPage(records: records, next: last) }
            seen += 1
            let record = try NotificationRecord(row)
            last = record.id
            if let status = query.status, record.status(at: now) != status { continue }
            if records.count >= query.limit { return NotificationPage(records: records, next: records.last?.id) }
            records.append(try record.withDeliveries(row))
        }
        return NotificationPage(records: records, next: nil)
    }

    static let record = "SELECT \(NotificationRecord.columns) FROM notifications WHERE id = ? AND sender = ?"

    static let ofSender = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE sender = ? AND id < ? ORDER BY id DESC LIMIT ?
        """

    /// Sender and recipient are both in the index: no row of another sender is met, and none can be where a page ends.
    static let toRecipient = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE sender = ? AND recipient = ? AND id < ?
        ORDER BY id DESC LIMIT ?
        """
}
