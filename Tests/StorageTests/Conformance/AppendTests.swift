import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct AppendTests {
    static let payloads: [[UInt8]] = [
        [], [0, 255, 7], (0..<(256 * 1024 + 28)).map { UInt8(truncatingIfNeeded: $0 &* 31) },
    ]

    @Test(arguments: conformingStores, payloads)
    func `What is appended is found, with its trace`(_ kind: StoreKind, _ payload: [UInt8]) async throws {
        let store = try await kind.open()
        let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let sent = SealedNotification.sample(traceparent: traceparent, payload: payload)
        try await store.append([sent])
        let found = try #require(try await store.find(sent.id, recipient: .alice))
        let expected = StoredNotification(
            id: sent.id, createdAt: noon, expiresAt: noon + .seconds(3600), readAt: nil, isRevoked: false,
            payload: SealedPayload(keyID: "k1", bytes: payload), traceparent: traceparent)
        #expect(found == expected)
    }

    @Test(arguments: conformingStores)
    func `Appending again changes nothing and makes no second outbox entry`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
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

    @Test(arguments: conformingStores)
    func `The same ID twice in one call is there once`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let first = SealedNotification.sample(payload: [1])
        try await store.append([first, .sample(first.id, payload: [2]), .sample(payload: [3])])
        #expect(try await store.find(first.id, recipient: .alice)?.payload?.bytes == [1])
        #expect(try await store.backlog(now: due).count == 2)
    }

    @Test(arguments: conformingStores)
    func `Nothing to append is no error`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.append([])
        try await store.confirm([], until: due)
        try await store.record([])
        #expect(try await store.claim([], now: noon).plans.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A thousand in one call are all there`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(1000)
        try await store.append(sent)
        #expect(try await store.backlog(now: due).count == 1000)
        #expect(try await store.claim(sent.map(\.id), now: noon).plans.count == 1000)
    }
}
