import Domain
import Foundation
import GRDB
import Logging
import ServiceLifecycle
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
            _ = try PostgresTestDatabase.psql(url, statement)
        } else {
            let queue = try DatabaseQueue(path: String(url.dropFirst("sqlite:".count)))
            try await queue.write { db in try db.execute(sql: statement) }
        }
    }
}

/// Opens a fresh store, runs its service, and ends and removes it whatever happens.
func withTestStore<Value: Sendable>(
    _ kind: StoreKind, withdrawals: WithdrawalMode = .revoked, _ body: @Sendable (TestStore) async throws -> Value
) async throws -> Value {
    switch kind {
    case .memory:
        return try await withRunningStore("memory:", withdrawals: withdrawals, body)
    case .sqlite:
        return try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/data/securepush.sqlite", withdrawals: withdrawals, body)
        }
    case .postgres:
        return try await PostgresTestDatabase.with { url in
            try await withRunningStore(url, withdrawals: withdrawals, body)
        }
    }
}

/// The same for a test that needs the ports only.
func withStore<Value: Sendable>(
    _ kind: StoreKind, withdrawals: WithdrawalMode = .revoked, _ body: @Sendable (any Store) async throws -> Value
) async throws -> Value {
    try await withTestStore(kind, withdrawals: withdrawals) { test in try await body(test.store) }
}

/// Runs the service of a store for as long as `body` takes.
func withRunningStore<Value: Sendable>(
    _ url: String, withdrawals: WithdrawalMode = .revoked, _ body: @Sendable (TestStore) async throws -> Value
) async throws -> Value {
    let logger = Logger(label: "StorageTests") { _ in SwiftLogNoOpLogHandler() }
    var configuration = try StorageConfiguration(url: url)
    configuration.withdrawals = withdrawals
    let opened = try await openStore(configuration, logger: logger)
    let services = ServiceGroup(services: [opened.service], gracefulShutdownSignals: [], logger: logger)
    return try await withThrowingTaskGroup { group in
        group.addTask { try await services.run() }
        let result: Result<Value, any Error>
        do {
            let isReady = try await eventually {
                (try? await opened.store.ping(timeout: .seconds(5))) != nil
            }
            guard isReady else { throw StorageError(.unavailable, "The store under test did not start.") }
            result = .success(
                try await body(
                    TestStore(
                        store: opened.store, kind: opened.kind, url: url, readiness: { await opened.readiness() })))
        } catch {
            result = .failure(error)
        }
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
        return try result.get()
    }
}

/// An empty folder that is removed afterwards.
func withTemporaryFolder<Value: Sendable>(_ body: @Sendable (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}
