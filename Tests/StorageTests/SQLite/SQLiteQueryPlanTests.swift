import GRDB
import SecurePushCore
import Testing

@testable import Storage

@Suite("How SQLite goes about each statement")
struct SQLiteQueryPlanTests {
    static let statements: [String] =
        [
            IdempotentRequest.find, SQLiteWrite.saveKey, SQLiteWrite.noteRevocation, SQLiteWrite.destroyPayload,
            SQLitePage.record, SQLitePage.ofSender, SQLitePage.toRecipient, InboxPage.allEntries,
            InboxPage.unreadEntries, InboxPage.unreadCount, ReadingState.find, SQLitePurge.expiring,
            SQLitePurge.destroy,
            SQLitePurge.removable, SQLitePurge.removeKeys, Installation.byID, Installation.byHandle,
            Installation.afterID, Installation.platformsOfOwner, Registration.byID, Registration.byHandle,
            Registration.byIDAndOwner,
            Registration.afterID, Registration.platformsOfOwner, OutboxBacklog.oldestOfDue,
            OutboxBacklog.bounded, SQLiteLease.unpublished, SQLiteLease.published, SQLiteLease.publish,
            SQLiteWrite.confirm, SQLiteWrite.enterPublished, SQLiteFollowUpChange.due, SQLiteFollowUpChange.find,
            SQLiteFollowUpChange.insertWithdrawal, SQLiteFollowUpChange.noteClaim, SQLiteFollowUpChange.remove,
            SQLiteFollowUpChange.noteOutcome, SQLiteWrite.noteRead,
            SQLiteClaim.begin, SQLiteClaim.enter,
            SQLiteWrite.postponeEntry, SQLiteLease.postpone,
            SQLitePurge.removePushes, SilentPushState.find, SilentPushState.save, DeviceEncryptionKey.ofOwner,
        ] + SQLitePurge.removals + SQLiteDeviceChange.statements + DeviceReference.statements
        + SQLiteRefreshChange.statements

    private func plan(_ statement: String) throws -> [String] {
        let queue = try DatabaseQueue()
        try SQLiteSchema.migrator.migrate(queue)
        return try queue.read { db in
            let values = [Int](repeating: 0, count: statement.count { $0 == "?" })
            let sql = "EXPLAIN QUERY PLAN \(statement)"
            return try Row.fetchAll(db, sql: sql, arguments: StatementArguments(values)).map { $0["detail"] }
        }
    }

    @Test("No table is scanned and nothing is sorted", arguments: statements)
    func plans(_ statement: String) throws {
        let steps = try plan(statement)
        #expect(!steps.contains { $0.hasPrefix("SCAN") && !$0.contains("subquery") }, "\(steps)")
        #expect(!steps.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(steps)")
    }

    @Test("Of one recipient's, only the sender's own are met")
    func toRecipient() throws {
        let steps = try plan(SQLitePage.toRecipient)
        let index = "USING INDEX notifications_sender_recipient (sender=? AND recipient=? AND id<?)"
        #expect(steps.count == 1 && steps[0].hasSuffix(index), "\(steps)")
    }

    @Test(
        "An inbox is read off its index alone",
        arguments: [
            InboxPage.allEntries, InboxPage.unreadEntries, InboxPage.unreadCount,
        ])
    func inbox(_ statement: String) throws {
        let steps = try plan(statement)
        #expect(steps.contains { $0.contains("COVERING INDEX notifications_recipient") }, "\(steps)")
    }
}
