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
        let statement = try db.cachedStatement(sql: query.recipient == nil ? Self.ofSender : Self.ofRecipient)
        let before = query.before ?? NotificationID(high: .max, low: .max)
        let rows = try Row.fetchCursor(
            statement, arguments: [query.recipient?.text ?? query.sender, before.data, scanLimit + 1])
        var records: [NotificationRecord] = []
        var seen = 0
        var last: NotificationID?
        while let row = try rows.next() {
            if seen == scanLimit { return NotificationPage(records: records, next: last) }
            seen += 1
            let record = try NotificationRecord(row)
            last = record.id
            guard try isWanted(record, row) else { continue }
            if records.count >= query.limit { return NotificationPage(records: records, next: records.last?.id) }
            records.append(try record.withDeliveries(row))
        }
        return NotificationPage(records: records, next: nil)
    }

    /// What the index that is walked does not decide.
    private func isWanted(_ record: NotificationRecord, _ row: Row) throws -> Bool {
        if let status = query.status, record.status(at: now) != status { return false }
        guard query.recipient != nil else { return true }
        guard let sender: String = row[9] else { throw Row.unreadable("sender") }
        return sender.utf8.elementsEqual(query.sender.utf8)
    }

    static let record = "SELECT \(NotificationRecord.columns) FROM notifications WHERE id = ? AND sender = ?"

    static let ofSender = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE sender = ? AND id < ? ORDER BY id DESC LIMIT ?
        """

    /// Without the sender, so that rows of others are counted as looked through.
    static let ofRecipient = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE recipient = ? AND id < ?
        ORDER BY id DESC LIMIT ?
        """
}
