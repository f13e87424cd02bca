import Domain
import Logging
import StackKit
import Testing

@testable import Storage

@Suite(.timeLimit(.minutes(15))) struct DatabaseRoleTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// What a role could fill the disk with, or read or keep other things in, besides its rows.
    static let refused = [
        "SELECT lo_create(0)", "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, '\\x00'::bytea)",
        "SELECT lo_put(1, 0, '\\x00'::bytea)", "SELECT lo_import('/etc/passwd')", "SELECT lo_open(1, 131072)",
        "SELECT lo_unlink(1)", "CREATE TABLE t (a int)", "CREATE TEMPORARY TABLE t (a int)", "CREATE SCHEMA s",
    ]

    @Test func `No role can store anything but its rows`() async throws {
        try await withPostgresServer { server in
            // It can be repeated, and the second time nothing is left to revoke.
            for _ in 0..<2 {
                _ = try await DatabaseRoles.apply(uri: server.adminURL, verifiers: [:], logger: quiet)
            }
            // Succeeds only if the right is missing.
            func expectDenied(_ statement: String, as role: String) async {
                let url = "postgres://\(role)@127.0.0.1:\(server.port)/securepush"
                let block = """
                    DO $$ BEGIN
                        BEGIN EXECUTE $q$\(statement)$q$; EXCEPTION WHEN insufficient_privilege THEN RETURN; END;
                        RAISE 'allowed';
                    END $$
                    """
                await #expect(throws: Never.self, "\(role): \(statement)") {
                    _ = try await PostgresTestDatabase.psql(url, block)
                }
            }
            for role in DatabaseRole.allCases {
                for statement in Self.refused { await expectDenied(statement, as: role.name) }
            }
        }
    }

    /// The calls of the service of each role. Those of devices are more than one statement each, so they are made with
    /// devices (``useDevices``).
    static let calls: [DatabaseRole: [StoreCall]] = [
        .ingest: [
            .append, .lease, .confirm, .leasePublished, .backlog, .appendOnce, .request, .senderRecord, .page, .resend,
            .leaseFollowUps, .encryptionKeys, .deviceCount, .leaseKeyNotice, .settleKeyNotice, .postponeKeyNotice,
            .shownDevices,
        ],
        .dispatcher: [
            .claim, .record, .abandon, .platforms, .claimFollowUps, .recordFollowUps, .admitSilent, .releaseSilent,
            .records, .leaseOutcomes, .saveOutcomes, .awaitingOutcome, .scheduledAwaitingOutcome, .recordOutcomes,
        ],
        .retrieval: [
            .find, .findMany, .payloadBytes, .states, .markRead, .markShown, .unreadCount, .inbox, .addFamily,
            .refreshFamily, .renewFamily, .removeFamily, .purgeFamilies, .payloadKeys, .question, .answer,
            .wrongChallenge, .reportShown,
        ],
        .operator: [.census, .operatorPage, .life, .records, .reopenByRelay, .resendByRelay, .backlog, .genericTexts],
        .cli: [.records, .reopen, .payloadKeys],
    ]

    @Test func `Each role may run every statement of its service`() async throws {
        try await withPostgresServer { server in
            _ = try await DatabaseRoles.apply(uri: server.adminURL, verifiers: [:], logger: quiet)
            let sample = SealedNotification.sample(display: .app, question: Question(options: ["ok"]))
            // The revoking ingest comes last: the others find a notification.
            let steps: [(role: DatabaseRole, calls: [StoreCall])] =
                DatabaseRole.allCases.filter { $0 != .hub }.map { ($0, Self.calls[$0] ?? []) }
                + [(.ingest, [.revoke, .purge])]
            for (role, calls) in steps {
                let url = "postgres://\(role.name)@127.0.0.1:\(server.port)/securepush"
                if [.hub, .cli].contains(role) {
                    let (tables, stop) = try await StoreKind.startHub(url)
                    await #expect(throws: Never.self, "\(role)") {
                        if role == .hub { try await tables.useAll() }
                        if role == .cli {
                            _ = try await tables.deviceCounts(hub: "hub")
                            _ = try await tables.pushToken(of: "key")
                        }
                    }
                    try await stop()
                }
                if role == .hub { continue }
                try await withRunningStore(url) { test in
                    for call in calls {
                        await #expect(throws: Never.self, "\(role): \(call)") {
                            try await call.make(test.store, sample)
                        }
                    }
                    if [.retrieval, .cli].contains(role), let store = test.store as? PostgresStore {
                        await #expect(throws: Never.self, "\(role)") { try await store.useDevices() }
                    }
                }
            }
            // It has tables of its own.
            let url = "postgres://\(DatabaseRole.hub.name)@127.0.0.1:\(server.port)/securepush"
            let (tables, stop) = try await StoreKind.startHub(url)
            try await tables.useAll()
            try await stop()
        }
    }
}
