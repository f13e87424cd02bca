import GRDB
import SecurePushCore
import Synchronization
import Testing

@testable import Storage

@Suite("How SQLite goes about each statement")
struct SQLiteQueryPlanTests {
    static let statements: [String] =
        [
            IdempotentRequest.find, SQLiteWrite.saveKey, SQLiteWrite.noteRevocation, SQLiteWrite.destroyPayload,
            SQLitePage.record, SQLitePage.ofSender, SQLitePage.toRecipient, InboxPage.allEntries,
            InboxPage.unreadEntries, InboxPage.unreadCount, ReadingState.find, ReadingState.payloadBytes,
            SQLitePurge.expiring,
            SQLitePurge.destroy,
            SQLitePurge.removable, SQLitePurge.removeKeys, OutboxBacklog.oldestOfDue,
            OutboxBacklog.bounded, SQLiteLease.unpublished, SQLiteLease.published, SQLiteLease.publish,
            SQLiteWrite.confirm, SQLiteWrite.enterPublished, SQLiteFollowUpChange.due, SQLiteFollowUpChange.find,
            SQLiteFollowUpChange.insertWithdrawal, SQLiteFollowUpChange.noteClaim, SQLiteFollowUpChange.remove,
            SQLiteFollowUpChange.noteOutcome, SQLiteWrite.noteRead,
            SQLiteClaim.begin, SQLiteClaim.enter,
            SQLiteWrite.postponeEntry, SQLiteLease.postpone,
            SQLitePurge.removePushes, SilentPushState.find, SilentPushState.save,
        ] + SQLitePurge.removals + SQLiteOutcomeChange.statements

    private func plan(_ statement: String) throws -> [String] {
        let queue = try DatabaseQueue()
        try queue.write(SQLiteSchema.create)
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

    /// The statements of a notification's life, as they are executed.
    private func executed() throws -> Set<String> {
        let queue = try DatabaseQueue()
        try queue.write(SQLiteSchema.create)
        let seen = Mutex<Set<String>>([])
        let sent = (0..<2).map { _ in SealedNotification.sample(remind: [.seconds(60)]) }
        let (id, later) = (sent[0].id, sent[1].id)
        let delivery = Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: noon, isWithdrawnOnRead: true)
        let outcome = DispatchOutcome(id: id, attempt: 1, deliveries: [delivery], pushedAt: noon)
        let retry = DispatchOutcome(id: later, attempt: 1, deliveries: [], nextTry: due)
        let withdrawal = FollowUp(id: id, kind: .withdrawal)
        let changes: [SQLiteWrite] = [
            .append(sent[0]), .append(sent[1]), .confirm(id, until: due), .claim(id, isFirst: false, now: noon),
            .claim(later, isFirst: true, now: noon), .record(outcome), .record(retry), .markRead(id, noon),
            .markShown(id, noon),
            .followUp(.claim(withdrawal, now: noon)),
            .followUp(.record(FollowUpOutcome(followUp: withdrawal, attempt: 1, deliveries: []))),
            .abandon(later), .revoke(id, sender: "tests", noon),
        ]
        try queue.write { db in
            db.trace { event in
                guard case .statement(let statement) = event else { return }
                seen.withLock { _ = $0.insert(statement.sql) }
            }
            for change in changes { _ = try change.execute(db, withdrawals: .read) }
            db.trace(nil)
        }
        return seen.withLock { $0 }
    }

    @Test("Each change of a notification finds its rows by an index")
    func changes() throws {
        let statements = try executed().filter { statement in
            ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { statement.hasPrefix($0) }
        }
        #expect(statements.count > 12)
        for statement in statements {
            let steps = try plan(statement)
            #expect(!steps.contains { $0.hasPrefix("SCAN") && !$0.contains("subquery") }, "\(statement): \(steps)")
        }
    }

    /// One call of each port that reads or changes rows by something else than their primary key.
    private func useAll(_ store: TracedStore) async throws {
        let id = [UInt8](repeating: 7, count: 16)
        let family = RefreshFamily(id: id, owner: .alice, userEntry: "e", tokenHash: [1], expiresAt: due)
        try await store.add(family)
        _ = try await store.refreshFamily(id)
        _ = try await store.renew(family, replacing: [1], now: noon)
        _ = try await store.purgeRefreshFamilies(limit: 5, now: due)
        try await store.removeRefreshFamily(id)
        try await store.useDevices()
    }

    @Test("Each statement of a port finds its rows by an index, and sorts nothing")
    func ports() async throws {
        let store = try TracedStore()
        try await useAll(store)
        for statement in store.statements {
            let steps = try plan(statement)
            let isScan = { (step: String) in
                step.hasPrefix("SCAN") && !["subquery", "json_each", "due", "CONSTANT"].contains(where: step.contains)
            }
            #expect(!steps.contains(where: isScan), "\(statement): \(steps)")
            #expect(!steps.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(statement): \(steps)")
        }
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
