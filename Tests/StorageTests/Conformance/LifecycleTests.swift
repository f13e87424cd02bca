import Domain
import Logging
import ServiceLifecycle
import Storage
import Testing

@Suite(.stores) struct LifecycleTests {
    @Test(.timeLimit(.minutes(15)), arguments: conformingStores)
    func `A stopped store refuses, and never hangs`(_ kind: StoreKind) async throws {
        let running = try await kind.openRunning()
        try await running.stop()
        for call in StoreCall.allCases {
            let error = await #expect(throws: StorageError.self) { try await call.make(running.test.store, .sample()) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test(arguments: conformingStores)
    func `What is under way when the store stops is finished or refused`(_ kind: StoreKind) async throws {
        let running = try await kind.openRunning()
        let calls = SealedNotification.samples(200).map { one in Task { try await running.test.store.append([one]) } }
        try await calls[0].value
        try await running.stop()
        for call in calls {
            guard case .failure(let error) = await call.result else { continue }
            let code = try #require(error as? StorageError).code
            #expect(code == .unavailable || code == .connectionLost)
        }
    }
}
