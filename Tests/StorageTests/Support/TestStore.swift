import Domain
import Foundation
import GRDB
import StackKit
import Storage
import TestSupport

/// The stores that the conformance suite runs against. SQLite in memory runs the same statements.
let conformingStores: [StoreKind] = [.sqlite, .postgres]

/// A running store with its own file or database.
struct TestStore: Sendable {
    let store: any Store
    let kind: StoreKind
    /// The database URL.
    let url: String
    /// See ``OpenedStore/readiness()``.
    let readiness: @Sendable () async -> String?

    func status(of id: NotificationID) async throws -> DispatchStatus? { try await store.status(of: id) }
}

extension TestStore {
    /// Changes the database directly. No port has such a change.
    func execute(_ statement: String) async throws {
        if kind == .postgres {
            _ = try await PostgresTestDatabase.psql(url, statement)
        } else {
            // The store may be writing: it tries out what has failed, each second.
            var configuration = Configuration()
            configuration.busyMode = .timeout(60)
            let queue = try DatabaseQueue(
                path: String(url.dropFirst("sqlite:".count)), configuration: configuration)
            try await queue.write { db in try db.execute(sql: statement) }
        }
    }
}

/// Runs the service of a store for as long as `body` takes.
func withRunningStore<Value: Sendable>(
    _ url: String, withdrawals: WithdrawalMode = .revoked, _ body: @Sendable (TestStore) async throws -> Value
) async throws -> Value {
    let running = try await RunningStore.start(url, withdrawals: withdrawals)
    let result: Result<Value, any Error>
    do { result = .success(try await body(running.test)) } catch { result = .failure(error) }
    try await running.stop()
    return try result.get()
}
