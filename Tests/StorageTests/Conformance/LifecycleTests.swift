import Domain
import Logging
import ServiceLifecycle
import StackKit
import Storage
import Testing

struct LifecycleTests {
    @Test(arguments: conformingStores)
    func `A running store answers a ping`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in try await store.ping(timeout: patience) }
    }

    @Test(.timeLimit(.minutes(15)), arguments: conformingStores)
    func `A stopped store refuses, and never hangs`(_ kind: StoreKind) async throws {
        let store = try await withStore(kind) { $0 }
        for call in StoreCall.allCases {
            let error = await #expect(throws: StorageError.self) { try await call.make(store, .sample()) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test(arguments: conformingStores)
    func `What is under way when the store stops is finished or refused`(_ kind: StoreKind) async throws {
        let calls = try await withStore(kind) { store in
            let calls = SealedNotification.samples(200).map { one in Task { try await store.append([one]) } }
            try await calls[0].value
            return calls
        }
        for call in calls {
            guard case .failure(let error) = await call.result else { continue }
            let code = try #require(error as? StorageError).code
            #expect(code == .unavailable || code == .connectionLost)
        }
    }
}
