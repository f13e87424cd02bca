import Domain
import Logging
import ServiceLifecycle
import StackKit
import Storage

/// A store and the task of its service.
struct RunningStore: Sendable {
    let test: TestStore
    private let services: ServiceGroup
    private let task: Task<Void, any Error>

    /// Returns once the store answers.
    static func start(_ url: String, withdrawals: WithdrawalMode = .revoked) async throws -> RunningStore {
        let logger = Logger(label: "StorageTests") { _ in SwiftLogNoOpLogHandler() }
        var configuration = try StorageConfiguration(url: url)
        configuration.withdrawals = withdrawals
        let opened = try await openStore(configuration, logger: logger)
        let services = ServiceGroup(services: [opened.service], gracefulShutdownSignals: [], logger: logger)
        let test = TestStore(
            store: opened.store, kind: opened.kind, url: url, readiness: { await opened.readiness() })
        let running = RunningStore(test: test, services: services, task: Task { try await services.run() })
        do {
            let isReady = try await eventually { (try? await opened.store.ping(timeout: .seconds(5))) != nil }
            guard isReady else { throw StorageError(.unavailable, "The store under test did not start.") }
            return running
        } catch {
            try? await running.stop()
            throw error
        }
    }

    func stop() async throws {
        await services.triggerGracefulShutdown()
        try await task.value
    }
}
