import Domain
import Logging
import ServiceLifecycle
import StackKit
import Storage
import Testing

@Suite("Every store: start and stop")
struct LifecycleTests {
    @Test("A running store answers a ping", arguments: conformingStores)
    func ping(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in try await store.ping(timeout: patience) }
    }

    @Test("A stopped store refuses, and never hangs", .timeLimit(.minutes(15)), arguments: conformingStores)
    func stopped(_ kind: StoreKind) async throws {
        let store = try await withStore(kind) { $0 }
        for call in StoreCall.allCases {
            let error = await #expect(throws: StorageError.self) { try await call.make(store, .sample()) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test("What is under way when the store stops is finished or refused", arguments: conformingStores)
    func stopping(_ kind: StoreKind) async throws {
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
