import Domain
import Foundation
import Logging
import ServiceLifecycle
import StackKit
import Storage
import Testing

/// Closes what a test opened when the test ends, whatever happens.
struct OpenStores: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal fileprivate static var ofTest: ClosingSteps?

    let isRecursive = true

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let steps = ClosingSteps()
        let result: Result<Void, any Error>
        do {
            result = .success(try await Self.$ofTest.withValue(steps) { try await function() })
        } catch {
            result = .failure(error)
        }
        try await steps.run()
        try result.get()
    }
}

extension Trait where Self == OpenStores {
    /// Each test of the suite may open stores; see ``StoreKind/open(withdrawals:)``.
    static var stores: Self { Self() }
}

private actor ClosingSteps {
    private var steps: [@Sendable () async throws -> Void] = []

    func add(_ step: @escaping @Sendable () async throws -> Void) { steps.append(step) }

    /// The last one first. A step that fails keeps no other from being taken.
    func run() async throws {
        var failure: (any Error)?
        for step in steps.reversed() {
            do { try await step() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

extension StoreKind {
    /// A fresh store, whose service runs until the test ends.
    func open(withdrawals: WithdrawalMode = .revoked) async throws -> any Store {
        try await openRunning(withdrawals: withdrawals).test.store
    }

    /// The same for a test that needs more than the ports.
    func openTest() async throws -> TestStore { try await openRunning().test }

    /// The same for a test that stops the store itself.
    func openRunning(withdrawals: WithdrawalMode = .revoked) async throws -> RunningStore {
        let running = try await RunningStore.start(freshURL(), withdrawals: withdrawals)
        try await Self.atEndOfTest { try await running.stop() }
        return running
    }

    /// Fresh tables of a hub, whose store runs until the test ends.
    func openHub() async throws -> HubTables { try await Self.runHub(freshURL()) }

    /// The tables of a hub in a database, whose store runs until the test ends.
    static func runHub(_ url: String) async throws -> HubTables {
        let (tables, stop) = try await startHub(url)
        try await atEndOfTest(stop)
        return tables
    }

    /// - Returns: the tables of a hub, and the call that stops their store.
    static func startHub(_ url: String) async throws -> (HubTables, @Sendable () async throws -> Void) {
        let logger = Logger(label: "StorageTests") { _ in SwiftLogNoOpLogHandler() }
        let opened = try await openHubTables(StorageConfiguration(url: url), logger: logger)
        let services = ServiceGroup(services: [opened.service], gracefulShutdownSignals: [], logger: logger)
        let task = Task { try await services.run() }
        let stop: @Sendable () async throws -> Void = {
            await services.triggerGracefulShutdown()
            try await task.value
        }
        let isReady = try await eventually { await opened.readiness() == nil }
        if isReady { return (opened.tables, stop) }
        try? await stop()
        throw StorageError(.unavailable, "The store under test did not start.")
    }

    /// The URL of a database without a schema, which is removed when the test ends.
    func freshURL() async throws -> String {
        switch self {
        case .memory: return "memory:"
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)")
            try await Self.atEndOfTest { try FileManager.default.removeItem(at: folder) }
            return "sqlite:\(folder.path)/data/securepush.sqlite"
        case .postgres:
            let database = try await PostgresTestDatabase.make()
            try await Self.atEndOfTest { await PostgresTestDatabase.drop(database) }
            return database
        }
    }

    private static func atEndOfTest(_ step: @escaping @Sendable () async throws -> Void) async throws {
        try await #require(OpenStores.ofTest, "The suite has no trait `.stores`.").add(step)
    }
}
