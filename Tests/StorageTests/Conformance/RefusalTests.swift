import Domain
import Storage
import Testing

/// One element of a group that the database refuses must not fail the others: callers share transactions.
@Suite(.stores, .timeLimit(.minutes(15))) struct RefusalTests {
    /// A rule that the database has besides ours, such as one of an operator: it refuses rows of the recipient `odd`.
    struct Rule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: StoreKind
        /// `EVENT` stands for `INSERT` or `UPDATE`.
        let statements: [String]

        func apply(to test: TestStore, on event: String) async throws {
            for statement in statements {
                try await test.execute(statement.replacing("EVENT", with: event))
            }
        }
    }

    static let rules = [
        Rule(
            testDescription: "constraint (23514)", kind: .postgres,
            statements: [
                "ALTER TABLE notifications ADD CONSTRAINT odd CHECK (recipient <> 'odd' OR 'EVENT' = 'UPDATE' "
                    + "AND read_at IS NULL AND shown_at IS NULL) NOT VALID"
            ]),
        Rule(
            testDescription: "value (22012)", kind: .postgres,
            statements: [
                "ALTER TABLE notifications ADD CONSTRAINT odd CHECK (1 / (CASE WHEN recipient = 'odd' AND "
                    + "('EVENT' = 'INSERT' OR read_at IS NOT NULL OR shown_at IS NOT NULL) THEN 0 ELSE 1 END) = 1) "
                    + "NOT VALID"
            ]),
        Rule(
            testDescription: "trigger (P0001)", kind: .postgres,
            statements: [
                "CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS "
                    + "$$ BEGIN IF new.recipient = 'odd' THEN RAISE 'odd'; END IF; RETURN new; END $$",
                "CREATE TRIGGER odd BEFORE EVENT ON notifications FOR EACH ROW EXECUTE FUNCTION odd()",
            ]),
        Rule(
            testDescription: "trigger that aborts", kind: .sqlite,
            statements: [
                "CREATE TRIGGER odd BEFORE EVENT ON notifications WHEN new.recipient = 'odd' "
                    + "BEGIN SELECT RAISE(ABORT, 'odd'); END"
            ]),
        Rule(
            testDescription: "trigger that rolls back", kind: .sqlite,
            statements: [
                "CREATE TRIGGER odd BEFORE EVENT ON notifications WHEN new.recipient = 'odd' "
                    + "BEGIN SELECT RAISE(ROLLBACK, 'odd'); END"
            ]),
    ]

    /// 120 notifications; those with three of the numbers are for `odd`.
    private func samples() throws -> (all: [SealedNotification], odd: Set<NotificationID>) {
        let odd = try #require(UserName("odd"))
        let all = (0..<120).map { SealedNotification.sample(to: [7, 60, 119].contains($0) ? odd : .alice) }
        return (all, Set(all.filter { $0.notification.recipient == odd }.map(\.id)))
    }

    /// The IDs for which a call throws, with all calls at the same time.
    private func failures(
        _ samples: [SealedNotification], _ call: @escaping @Sendable (SealedNotification) async throws -> Void
    ) async -> Set<NotificationID> {
        await withTaskGroup(of: NotificationID?.self) { group in
            for sample in samples {
                group.addTask {
                    do { try await call(sample) } catch { return sample.id }
                    return nil
                }
            }
            return await group.reduce(into: Set<NotificationID>()) { failed, id in if let id { failed.insert(id) } }
        }
    }

    @Test(arguments: rules)
    func `A notification that is refused is not stored, and all others are`(_ rule: Rule) async throws {
        let test = try await rule.kind.openTest()
        try await rule.apply(to: test, on: "INSERT")
        let (all, odd) = try samples()
        let alone = await failures(all) { try await test.store.append([$0]) }
        #expect(alone == odd)
        let (keyed, oddKeyed) = try samples()
        let failed = await failures(keyed) { sample in
            let request = IdempotentRequest.sample("\(sample.id)", of: [sample])
            _ = try await test.store.append([sample], once: request, now: noon)
        }
        #expect(failed == oddKeyed)
        let stored = try await test.store.find((all + keyed).map(\.id), recipient: .alice)
        #expect(Set(stored.keys) == Set((all + keyed).map(\.id)).subtracting(odd).subtracting(oddKeyed))
    }

    @Test(arguments: rules)
    func `A notification that is refused is not marked, and all others are`(_ rule: Rule) async throws {
        let test = try await rule.kind.openTest()
        let (all, odd) = try samples()
        try await test.store.append(all)
        try await rule.apply(to: test, on: "UPDATE")
        let unread = await failures(all) { try await test.store.markRead($0.id, at: noon) }
        let unshown = await failures(all) { try await test.store.markShown($0.id, at: noon) }
        #expect(unread == odd && unshown == odd)
        let read = try await test.store.find(all.map(\.id), recipient: .alice).values.filter { $0.readAt != nil }
        #expect(Set(read.map(\.id)) == Set(all.map(\.id)).subtracting(odd))
    }

    @Test func `A row that cannot be read fails its own reader only`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let (all, odd) = try samples()
        try await test.store.append(all)
        try await test.execute("ALTER TABLE notifications ALTER COLUMN expires_at DROP NOT NULL")
        try await test.execute("UPDATE notifications SET expires_at = NULL WHERE recipient = 'odd'")
        let failed = await failures(all) { sample in
            _ = try await test.store.find(sample.id, recipient: sample.notification.recipient)
        }
        #expect(failed == odd)
        let unread = await failures(all) { sample in
            _ = try await test.store.states([sample.id], recipient: sample.notification.recipient)
        }
        #expect(unread == odd)
    }
}
