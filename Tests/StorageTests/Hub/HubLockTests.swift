import Dispatch
import Domain
import Foundations
import StackKit
import Storage
import Synchronization
import TestSupport
import Testing

/// The order in which transactions lock rows on PostgreSQL; see ``HubTables``.
@Suite(.stores) struct HubLockTests {
    /// Holds a transaction in its middle. It blocks the thread of the transaction's connection, which is its own.
    private final class Gate: Sendable {
        private let isEntered = Mutex(false)
        private let end = DispatchSemaphore(value: 0)

        func pass() {
            isEntered.withLock { $0 = true }
            _ = end.wait(timeout: .now() + 20)
        }

        var hasEntered: Bool { isEntered.withLock { $0 } }
        func open() { end.signal() }
    }

    /// The number of sessions that wait for a lock.
    private func waiting(_ url: String) async throws -> String {
        try await PostgresTestDatabase.psql(
            url,
            """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """)
    }

    /// Otherwise a change of the installation, which has locked it, would wait for the registrations: a deadlock.
    @Test func `Who removes a dead device waits for its installation before it locks registrations`() async throws {
        let url = try await StoreKind.postgres.freshURL()
        let tables = try await StoreKind.runHub(url)
        try await tables.install("i1", ["", "s"])
        let gate = Gate()
        async let change = tables.changeInstallation("i1", hub: "hub", now: noon + .seconds(5)) { _ in
            gate.pass()
            let row = HubInstallationRow(document: [1], updatedAt: noon + .seconds(5), expiresAt: nil)
            return (row, [.part("", updatedAt: noon + .seconds(5))], ())
        }
        let isHeld = try await eventually { gate.hasEntered }
        #expect(isHeld)
        async let removed = tables.remove(handle: "H", hub: "hub", ifUpdatedBefore: noon + .seconds(1))
        let waits = try await eventually { try await waiting(url).hasPrefix("1") }
        #expect(waits)
        let free = try await PostgresTestDatabase.psql(
            url, "SELECT count(*) FROM (SELECT 1 FROM hub_registrations FOR UPDATE SKIP LOCKED) AS found")
        #expect(free.hasPrefix("2"))
        gate.open()
        // The installation is newer than the answer of the push service.
        #expect(try await change.0.removed.map(\.slot) == ["s"])
        #expect(try await removed.isEmpty)
        #expect(try await tables.installation("i1", hub: "hub", now: noon)?.document == [1])
    }

    /// Changes of installations, keys, dead devices and expiry at once: they end, and PostgreSQL counts no deadlock.
    @Test func `Changes of the same devices at once make no deadlock`() async throws {
        let url = try await StoreKind.postgres.freshURL()
        let tables = try await StoreKind.runHub(url)
        for number in 0..<6 {
            try await tables.install("i\(number)", ["", "s"], handle: "h\(number % 3)", expiresAt: noon + .seconds(1))
        }
        try await withThrowingDiscardingTaskGroup { group in
            for round in 0..<8 {
                for number in 0..<6 {
                    group.addTask {
                        try await tables.install("i\(number)", ["", "s"], handle: "h\((number + round) % 3)")
                    }
                }
                group.addTask {
                    try await tables.remember(
                        (0..<3).reversed().map { HubPushKey(hub: "hub", handle: "h\($0)", key: "k\(round)") })
                }
                group.addTask {
                    _ = try await tables.remove(
                        handle: "h\(round % 3)", hub: "hub", ifUpdatedBefore: noon + .seconds(1))
                }
                group.addTask { _ = try await tables.removeExpired(limit: 3, now: noon + .seconds(2)) }
            }
        }
        let deadlocks = try await PostgresTestDatabase.psql(
            url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        #expect(deadlocks.hasPrefix("0"))
    }
}
