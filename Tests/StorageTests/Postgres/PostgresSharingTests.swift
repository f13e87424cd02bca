import Domain
import Foundations
import Testing

@testable import Storage

/// Two stores on one database, as two processes have it.
@Suite(.stores) struct PostgresSharingTests {
    private func withTwoStores(_ body: @Sendable ([any Store], TestStore) async throws -> Void) async throws {
        let first = try await StoreKind.postgres.openTest()
        try await withRunningStore(first.url) { second in try await body([first.store, second.store], first) }
    }

    @Test func `Of two hundred with one key one is stored`() async throws {
        try await withTwoStores { stores, test in
            let sent = (0..<200).map { _ in SealedNotification.sample() }
            let answers = try await withThrowingTaskGroup(of: (NotificationID, IdempotentRequest?).self) { group in
                for (index, one) in sent.enumerated() {
                    group.addTask {
                        let request = IdempotentRequest.sample(of: [one])
                        return (one.id, try await stores[index % 2].append([one], once: request, now: noon))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let stored = answers.filter { $0.1 == nil }.map(\.0)
            try #require(stored.count == 1)
            let told = Set(answers.compactMap { $0.1?.answer.location })
            #expect(told == ["/api/notifications/\(stored[0])"])
            for table in ["notifications", "payloads", "outbox", "idempotency_keys"] {
                #expect(try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM \(table)") == "1")
            }
        }
    }

    @Test func `Many keys in any order never deadlock`() async throws {
        try await withTwoStores { stores, test in
            let keys = (0..<50).map { "key-\($0)" }
            let stored = try await withThrowingTaskGroup(of: String?.self) { group in
                for (index, key) in (0..<4).flatMap({ _ in keys.shuffled() }).enumerated() {
                    group.addTask {
                        let one = SealedNotification.sample()
                        let request = IdempotentRequest.sample(key, of: [one])
                        let earlier = try await stores[index % 2].append([one], once: request, now: noon)
                        return earlier == nil ? key : nil
                    }
                }
                return try await group.reduce(into: [String]()) { if let key = $1 { $0.append(key) } }
            }
            #expect(stored.sorted() == keys.sorted())
            #expect(try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM outbox") == "50")
        }
    }

    /// The second process waits for the first one's transaction, and a key that it gives up is free.
    @Test func `A key whose transaction is rolled back is taken`() async throws {
        let test = try await StoreKind.postgres.openTest()
        try await test.execute("ALTER TABLE notifications ADD CHECK (sender <> 'poison')")
        let refused = SealedNotification.sample(from: "poison")
        let request = IdempotentRequest.sample(of: [refused])
        await #expect(throws: StorageError.self) {
            try await test.store.append([refused], once: request, now: noon)
        }
        let found = try await test.store.request(request.key, now: noon)
        #expect(found == nil)
        let taken = SealedNotification.sample()
        let earlier = try await test.store.append([taken], once: .sample(of: [taken]), now: noon)
        #expect(earlier == nil)
    }

    @Test func `Two that purge do each thing once`() async throws {
        try await withTwoStores { stores, test in
            let sent = (0..<600).map { _ in SealedNotification.sample() }
            try await stores[0].append(sent)
            let end = noon + .seconds(3600) + RetentionPolicy.tombstone
            let reports = try await withThrowingTaskGroup(of: PurgeReport.self) { group in
                for index in 0..<12 { group.addTask { try await stores[index % 2].purge(limit: 50, now: end) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reports.allSatisfy { $0.largest <= 50 })
            #expect(reports.reduce(0) { $0 + $1.payloads } == 600)
            let rest = try await stores[0].purge(limit: 1000, now: end)
            #expect(rest.payloads == 0)
            #expect(reports.reduce(rest.notifications) { $0 + $1.notifications } == 600)
            #expect(try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM notifications") == "0")
            #expect(try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM payloads") == "0")
        }
    }

    /// As a process of the version before the third step writes and reads its outbox.
    @Test func `An older ingest beside it neither sees nor spoils what is published`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let sent = SealedNotification.samples(3)
        try await test.store.append(sent)
        try await test.store.confirm([sent[0].id], until: noon)
        let leased = try await PostgresTestDatabase.psql(
            test.url,
            """
            WITH due AS (
                SELECT notification_id, due_at FROM outbox WHERE due_at <= \(due.milliseconds)
                ORDER BY due_at, notification_id LIMIT 9 FOR UPDATE SKIP LOCKED
            )
            UPDATE outbox SET due_at = \(due.milliseconds) FROM due
            WHERE outbox.notification_id = due.notification_id RETURNING outbox.notification_id
            """)
        #expect(Set(leased.split(separator: "\n").map(String.init)) == Set(sent[1...2].map { "\($0.id)" }))
        // It confirms by deleting; what it deleted and is to be tried again comes back.
        _ = try await PostgresTestDatabase.psql(test.url, "DELETE FROM outbox WHERE notification_id = '\(sent[1].id)'")
        _ = try await PostgresTestDatabase.psql(
            test.url, "INSERT INTO outbox (notification_id, due_at) VALUES ('\(sent[1].id)', \(noon.milliseconds))")
        let mine = try await test.store.lease(limit: 9, now: due, until: due)
        #expect(Set(mine.map(\.id)) == Set(sent[1...2].map(\.id)))
        let published = try await test.store.leasePublished(limit: 9, due: due, now: due, until: due)
        #expect(published.entries.map(\.id) == [sent[0].id])
    }

    /// Outcomes, notes and leases of many processes meet on the same rows.
    @Test func `What meets on the same entries never deadlocks`() async throws {
        try await withTwoStores { stores, test in
            // With more, the last of a busy machine would wait longer than a statement may.
            let sent = (0..<100).map { _ in SealedNotification.sample() }
            let ids = sent.map(\.id)
            try await stores[0].append(sent)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for turn in 0..<24 {
                    let store = stores[turn % 2]
                    group.addTask {
                        let plans = try await store.claim(ids.shuffled(), now: noon).plans
                        try await store.record(
                            plans.values.map { plan in
                                DispatchOutcome(
                                    id: plan.id, attempt: plan.attempt, deliveries: [.sample(.apple, .retrying)],
                                    nextTry: noon)
                            })
                    }
                    group.addTask { try await store.confirm(ids.shuffled(), until: noon) }
                    group.addTask { _ = try await store.leasePublished(limit: 25, due: due, now: due, until: noon) }
                    group.addTask { _ = try await store.lease(limit: 25, now: due, until: noon) }
                }
                try await group.waitForAll()
            }
            let plans = try await stores[0].claim(ids, now: noon).plans
            #expect(plans.count == 100)
            try await stores[1].record(
                plans.values.map { plan in
                    DispatchOutcome(id: plan.id, attempt: plan.attempt, deliveries: [.sample(.apple, .sent)])
                })
            #expect(try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM outbox") == "0")
        }
    }
}
