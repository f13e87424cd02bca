import GRDB
import SecurePushCore
import Testing

@testable import Storage

@Suite("How far SQLite looks for a page")
struct SQLitePageTests {
    /// Of sixty of a sender's, every tenth is another recipient's; and as many of another sender's.
    private func withRows(_ body: (Database, [SealedNotification]) throws -> Void) throws {
        let queue = try DatabaseQueue()
        try queue.write(SQLiteSchema.create)
        var sent = SealedNotification.samples(60)
        for index in sent.indices where index % 10 == 0 { sent[index].notification.recipient = .bob }
        try queue.write { db in
            for one in sent {
                _ = try SQLiteWrite.append(one).execute(db)
                _ = try SQLiteWrite.append(.sample(from: "others", to: .bob)).execute(db)
            }
            try body(db, sent)
        }
    }

    private func walk(_ db: Database, _ query: NotificationQuery) throws -> (found: [NotificationID], calls: Int) {
        var query = query
        var found: [NotificationID] = []
        for call in 1...100 {
            let page = try SQLitePage(query: query, now: noon).execute(db, scanLimit: 7)
            found += page.records.map(\.id)
            guard let next = page.next else { return (found, call) }
            query.before = next
        }
        return (found, 100)
    }

    @Test("Another sender's notification is never where a page ends")
    func others() throws {
        try withRows { db, _ in
            let page = try SQLitePage(query: NotificationQuery(sender: "nobody", recipient: .bob), now: noon)
                .execute(db, scanLimit: 7)
            #expect(page == NotificationPage(records: [], next: nil))
        }
    }

    @Test("One recipient's are found among those of other senders")
    func recipient() throws {
        try withRows { db, sent in
            let bobs = sent.filter { $0.notification.recipient == .bob }.map(\.id)
            let (found, calls) = try walk(db, NotificationQuery(sender: "tests", recipient: .bob))
            #expect(found == bobs.reversed())
            // Rows of another sender are not even looked through.
            #expect(calls == 1)
        }
    }

    @Test("Looking is bounded, and going on finds all: of a rare status")
    func status() throws {
        try withRows { db, sent in
            _ = try SQLiteWrite.claim(sent[20].id, isFirst: false, now: noon).execute(db)
            let (found, calls) = try walk(db, NotificationQuery(sender: "tests", status: .queued))
            #expect(found == [sent[20].id])
            #expect(calls == 9)
        }
    }
}
