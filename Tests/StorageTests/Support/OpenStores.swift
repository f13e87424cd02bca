import Domain
import Foundation
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
        let steps = try #require(OpenStores.ofTest, "The suite has no trait `.stores`.")
        let url: String
        switch self {
        case .memory: url = "memory:"
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)")
            await steps.add { try FileManager.default.removeItem(at: folder) }
            url = "sqlite:\(folder.path)/data/securepush.sqlite"
        case .postgres:
            let database = try await PostgresTestDatabase.make()
            await steps.add { await PostgresTestDatabase.drop(database) }
            url = database
        }
        let running = try await RunningStore.start(url, withdrawals: withdrawals)
        await steps.add { try await running.stop() }
        return running
    }
}
