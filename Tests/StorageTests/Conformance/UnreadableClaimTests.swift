import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct UnreadableClaimTests {
    /// A change that makes a row unreadable.
    struct Damage: Sendable, CustomTestStringConvertible {
        var kind: StoreKind
        var change: String

        var testDescription: String { "\(kind): \(change)" }

        private static func deliveries(_ text: String) -> String { "deliveries = '[{\"p\":\"apple\",\(text)}]'" }

        private static let everywhere = [
            // A newer version's, a hand's, and numbers that would overflow.
            deliveries(#""s":"teleported","n":1,"t":1"#), "deliveries = 'no JSON'", "presentation = 9",
            deliveries(#""s":"retrying","n":9223372036854775807,"t":1"#), "recipient = ''",
            "expires_at = -9223372036854775808", "expires_at = 9223372036854775807",
        ]
        /// SQLite keeps 64 bits in any column of integers.
        private static let inSQLite = [
            "presentation = 70000", "recorded_attempt = 9223372036854775807", "attempt = -9223372036854775808",
        ]

        static let all =
            everywhere.map { Damage(kind: .sqlite, change: $0) } + inSQLite.map { Damage(kind: .sqlite, change: $0) }
            + everywhere.map { Damage(kind: .postgres, change: $0) }

        func apply(to sent: SealedNotification, _ test: TestStore) async throws {
            let created = sent.notification.createdAt.milliseconds
            try await test.execute("UPDATE notifications SET \(change) WHERE created_at = \(created)")
        }
    }

    @Test(arguments: Damage.all)
    func `One is told, and keeps no neighbour from being claimed once`(_ damage: Damage) async throws {
        let test = try await damage.kind.openTest()
        let sent = SealedNotification.samples(3)
        try await test.store.append(sent)
        try await damage.apply(to: sent[1], test)
        for attempt in 1...3 {
            let claims = try await test.store.claim(sent.map(\.id), now: noon)
            #expect(Set(claims.plans.keys) == [sent[0].id, sent[2].id])
            #expect(claims[sent[0].id]?.attempt == attempt && claims[sent[2].id]?.attempt == attempt)
            #expect(Array(claims.unreadable.keys) == [sent[1].id])
            #expect(claims.unreadable[sent[1].id]?.code == .failed)
        }
    }

    @Test(arguments: conformingStores)
    func `One that is abandoned is not published again; the others are`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.samples(3)
        try await test.store.append(sent)
        try await test.store.abandon([sent[1].id, NotificationID()])
        try await test.store.abandon([])
        let leased = try await test.store.lease(limit: 10, now: due, until: due)
        #expect(Set(leased.map(\.id)) == [sent[0].id, sent[2].id])
        #expect(try await test.store.find(sent[1].id, recipient: .alice) != nil)
    }

    @Test(arguments: conformingStores)
    func `One keeps no other dead letter from being reopened`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.samples(2)
        try await test.store.append(sent)
        try await Damage(kind: kind, change: "deliveries = 'no JSON'").apply(to: sent[1], test)
        let results = try await test.store.reopen([sent[0].id: [], sent[1].id: []], now: noon)
        #expect(results == [sent[0].id: .owed([]), sent[1].id: .unreadable])
        #expect(Array(try await test.store.records(sent.map(\.id)).keys) == [sent[0].id])
    }

    @Test(arguments: conformingStores)
    func `A counter at its end fails neither its row nor the others`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.samples(3)
        try await test.store.append(sent)
        let changes = ["attempt = 2147483647", "attempt = -2147483648, recorded_attempt = 2147483647"]
        for (change, damaged) in zip(changes, sent) {
            try await Damage(kind: kind, change: change).apply(to: damaged, test)
        }
        let claims = try await test.store.claim(sent.map(\.id), now: noon)
        #expect(claims[sent[2].id]?.attempt == 1)
        #expect(claims[sent[0].id]?.attempt == Int(Int32.max))
        #expect(claims[sent[0].id]?.unrecordedClaims == Int(Int32.max) - 1)
        #expect(claims[sent[1].id]?.unrecordedClaims == 0)
        #expect(try await test.store.reopen([sent[0].id: []], now: noon) == [sent[0].id: .owed([])])
    }
}
