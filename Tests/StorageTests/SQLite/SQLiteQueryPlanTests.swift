import Domain
import GRDB
import Testing

@testable import Storage

struct SQLiteQueryPlanTests {
    private func plan(_ statement: String) throws -> [String] {
        let queue = try DatabaseQueue()
        try queue.write(StorageSchema.services.create)
        return try queue.read { db in
            db.add(function: SQLiteTransaction.fromHex)
            let values = [Int](repeating: 0, count: statement.count { $0 == "?" })
            let sql = "EXPLAIN QUERY PLAN \(statement)"
            return try Row.fetchAll(db, sql: sql, arguments: StatementArguments(values)).map { $0["detail"] }
        }
    }

    /// What happens to notifications, by the calls that SQLite has of its own.
    private func dispatch(_ store: TracedStore) throws {
        let sent = (0..<2).map { _ in SealedNotification.sample(remind: [.seconds(60)]) }
        let (id, later) = (sent[0].id, sent[1].id)
        let delivery = Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: noon, isWithdrawnOnRead: true)
        let outcome = DispatchOutcome(id: id, attempt: 1, deliveries: [delivery], pushedAt: noon)
        try store.traced { db in
            let request = IdempotentRequest.sample(of: [sent[1]])
            #expect(try db.append([sent[1]], once: request, now: noon) == nil)
            try db.append([sent[0]])
            try db.run(OutboxEntry.confirm(id, until: due))
            for column in ["due_at", "republish_at"] {
                _ = try db.lease(column, limit: 1, due: due, now: due, until: due)
            }
            _ = try db.first(SQLiteClaim.begin(id, now: noon))
            try db.run(SQLiteClaim.enter(id, now: noon))
            #expect(try db.first(SQLiteClaim.make(id, isFirst: false, now: noon)) != nil)
            #expect(try db.first(SQLiteClaim.make(later, isFirst: true, now: noon)) != nil)
            #expect(try db.record(outcome, .read))
            #expect(try db.record(DispatchOutcome(id: later, attempt: 1, deliveries: [], nextTry: due), .read))
            #expect(try SQLiteFind(id: id, recipient: .alice).execute(db) != nil)
            try db.markRead(id, at: noon)
            try db.abandon(later)
        }
    }

    @Test func `Each statement finds its rows by an index, and sorts nothing`() async throws {
        let store = try TracedStore()
        try dispatch(store)
        try await store.useDevices()
        try await store.useRefreshTokens()
        try await store.useNotifications()
        #expect(store.statements.count > 60)
        for statement in store.statements {
            let steps = try plan(statement)
            let isScan = { (step: String) in TracedStore.tables.contains { step.hasPrefix("SCAN \($0)") } }
            // The census looks through the oldest entries of the outbox, a bounded number.
            let isCensus = statement.contains("AS oldest")
            #expect(isCensus || !steps.contains(where: isScan), "\(statement): \(steps)")
            #expect(isCensus || !steps.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(statement): \(steps)")
        }
    }

    @Test func `Of one recipient's, only the sender's own are met`() throws {
        let query = NotificationQuery(sender: "tests", recipient: .alice)
        let steps = try plan(NotificationScan(query, now: noon).sql.text(.sqlite))
        let range = "((sender,recipient)>(?,?) AND (sender,recipient,id)<(?,?,?))"
        #expect(
            steps.contains { $0.hasSuffix("notifications USING INDEX notifications_sender_recipient \(range)") },
            "\(steps)")
    }

    @Test(arguments: [true, false])
    func `An inbox is read off its index alone`(unreadOnly: Bool) throws {
        let page = InboxPage.sql(of: .alice, unreadOnly: unreadOnly, after: nil, limit: 9, now: noon)
        for statement in [page, InboxPage.unreadSQL(of: .alice, now: noon)] {
            let steps = try plan(statement.text(.sqlite)).filter { $0.contains("notifications") }
            #expect(!steps.isEmpty, "\(statement)")
            #expect(
                steps.allSatisfy { $0.contains("SEARCH notifications USING COVERING INDEX notifications_recipient") },
                "\(steps)")
        }
    }
}
