import Domain
import Foundations
import Storage
import Testing

@Suite("Every store: taking notifications in")
struct AppendTests {
    @Test("What is appended is found", arguments: conformingStores)
    func found(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.sample(payload: [0, 255, 7])
            try await store.append([sent])
            let found = try #require(try await store.find(sent.id, recipient: .alice))
            let expected = StoredNotification(
                id: sent.id, createdAt: noon, expiresAt: noon + .seconds(3600), readAt: nil, isRevoked: false,
                payload: SealedPayload(keyID: "k1", bytes: [0, 255, 7]))
            #expect(found == expected)
        }
    }

    @Test("The trace of what is appended is found with it", arguments: conformingStores)
    func trace(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let sent = SealedNotification.sample(traceparent: traceparent)
            try await store.append([sent])
            #expect(try await store.find(sent.id, recipient: .alice)?.traceparent == traceparent)
        }
    }

    @Test("Appending again changes nothing and makes no second outbox entry", arguments: conformingStores)
    func twice(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let first = SealedNotification.sample(payload: [1])
            var second = SealedNotification.sample(first.id, to: .bob, payload: [2])
            second.notification.createdAt = noon + .seconds(9)
            try await store.append([first])
            try await store.append([second])
            #expect(try await store.find(first.id, recipient: .alice)?.payload?.bytes == [1])
            #expect(try await store.find(first.id, recipient: .bob) == nil)
            #expect(try await store.backlog(now: due).count == 1)
            try await store.confirm([first.id], until: due)
            try await store.append([first])
            #expect(try await store.backlog(now: due).count == 0)
        }
    }

    @Test("The same ID twice in one call is there once", arguments: conformingStores)
    func twiceInOneCall(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let first = SealedNotification.sample(payload: [1])
            try await store.append([first, .sample(first.id, payload: [2]), .sample(payload: [3])])
            #expect(try await store.find(first.id, recipient: .alice)?.payload?.bytes == [1])
            #expect(try await store.backlog(now: due).count == 2)
        }
    }

    @Test("Nothing to append is no error", arguments: conformingStores)
    func nothing(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.append([])
            try await store.confirm([], until: due)
            try await store.record([])
            #expect(try await store.claim([], now: noon).plans.isEmpty)
        }
    }

    @Test("A thousand in one call are all there", arguments: conformingStores)
    func many(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.samples(1000)
            try await store.append(sent)
            #expect(try await store.backlog(now: due).count == 1000)
            #expect(try await store.claim(sent.map(\.id), now: noon).plans.count == 1000)
        }
    }

    @Test("A payload of 256 KiB and the seal comes back whole", arguments: conformingStores)
    func largePayload(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let bytes = (0..<(256 * 1024 + 28)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let sent = SealedNotification.sample(payload: bytes)
            try await store.append([sent])
            #expect(try await store.find(sent.id, recipient: .alice)?.payload?.bytes == bytes)
        }
    }

    @Test("An empty payload is a payload", arguments: conformingStores)
    func emptyPayload(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.sample(payload: [])
            try await store.append([sent])
            #expect(try await store.find(sent.id, recipient: .alice)?.payload?.bytes == [])
        }
    }
}
