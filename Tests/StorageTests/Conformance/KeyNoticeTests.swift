import Domain
import Foundations
import Storage
import TestSupport
import Testing

/// The notices about new keys (`E2E_KEY_NOTICE`).
@Suite(.stores) struct KeyNoticeTests {
    private static func installation(_ id: String, _ owner: UserName = .alice) -> Installation {
        Installation(
            id: id, owner: owner, platform: .apple, handle: "handle of \(id)", document: Array("{}".utf8),
            updatedAt: noon)
    }

    private static func key(_ byte: UInt8) throws -> EncryptionKey {
        try #require(EncryptionKey(point: [4] + [UInt8](repeating: byte, count: 64)))
    }

    private func register(
        _ store: any Store, _ byte: UInt8, of id: String = "a", notifies: Bool = true, at time: Timestamp = noon
    ) async throws {
        #expect(
            try await store.setEncryptionKey(Self.key(byte), of: id, owner: .alice, notifies: notifies, now: time))
    }

    /// The notices that are due at a time; each is leased for a minute.
    private func due(_ store: any Store, at time: Timestamp = noon) async throws -> [KeyNotice] {
        var notices: [KeyNotice] = []
        while let notice = try await store.leaseKeyNotice(now: time, until: time + .seconds(60)) {
            notices.append(notice)
        }
        return notices
    }

    @Test(arguments: conformingStores)
    func `A user with other devices is told about the first key of one`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("A"))
        try await register(store, 1)
        #expect(try await due(store).isEmpty)
        try await store.save(Self.installation("b"))
        try await register(store, 2, of: "b")
        #expect(try await due(store).map(\.installation) == ["b"])
        // Another user's device is none of alice's.
        try await store.removeInstallation("b")
        try await store.save(Self.installation("b", .bob))
        try await register(store, 3)
        #expect(try await due(store, at: noon + .seconds(120)).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A registration of the tutorial is another device`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("a"))
        try await store.save(Registration(id: "r", owner: .alice, platform: .apns, handle: "h", updatedAt: noon))
        try await register(store, 1)
        #expect(
            try await due(store) == [KeyNotice(installation: "a", owner: .alice, until: noon + .seconds(60))])
    }

    @Test(arguments: conformingStores)
    func `The same key, and the monthly one, are no news; a key that replaces a young one is`(
        _ kind: StoreKind
    ) async throws {
        let store = try await kind.open()
        for id in ["a", "b"] { try await store.save(Self.installation(id)) }
        try await register(store, 1, notifies: false)
        #expect(try await due(store).isEmpty)
        try await register(store, 1)
        #expect(try await due(store).isEmpty)
        let month = noon + .seconds(30 * 86_400)
        try await register(store, 2, at: month)
        #expect(try await due(store, at: month).isEmpty)
        // Somebody else's key, or the device's own one after that.
        let soon = month + .seconds(24 * 86_400)
        try await register(store, 3, at: soon)
        #expect(try await due(store, at: soon - .milliseconds(1)).isEmpty)
        #expect(try await due(store, at: soon).map(\.installation) == ["a"])
    }

    @Test(arguments: conformingStores)
    func `A notice waits until it is settled, and one at a time has it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for id in ["a", "b"] { try await store.save(Self.installation(id)) }
        try await register(store, 1)
        let first = try #require(try await due(store).first)
        #expect(try await due(store, at: noon + .seconds(59)).isEmpty)
        let second = try #require(try await due(store, at: noon + .seconds(60)).first)
        // The first lease is over.
        try await store.postpone(first, until: noon)
        let third = try #require(try await due(store, at: second.until).first)
        try await store.postpone(third, until: noon + .seconds(3600))
        #expect(try await due(store, at: noon + .seconds(3599)).isEmpty)
        // A newer key while it waits is told with it.
        try await register(store, 2, at: noon + .seconds(3000))
        let last = try #require(try await due(store, at: noon + .seconds(3600)).first)
        try await store.settle(last, told: noon)
        #expect(try await due(store, at: noon + .seconds(9999)).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A user who was told needs no further notice about keys from before`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for id in ["a", "b", "c"] { try await store.save(Self.installation(id)) }
        try await register(store, 1)
        try await register(store, 2, of: "b", at: noon + .seconds(1))
        try await register(store, 3, of: "c", at: noon + .seconds(2))
        let first = try #require(try await store.leaseKeyNotice(now: noon, until: noon + .seconds(60)))
        try await store.settle(first, told: noon + .seconds(1))
        #expect(try await due(store, at: noon + .seconds(99)).map(\.installation) == ["c"])
    }

    @Test(arguments: conformingStores)
    func `A renewed installation keeps its notice, and one that changes hands loses it`(
        _ kind: StoreKind
    ) async throws {
        let store = try await kind.open()
        for id in ["a", "b"] { try await store.save(Self.installation(id)) }
        try await register(store, 1)
        try await store.save(Self.installation("a"))
        #expect(try await due(store).map(\.installation) == ["a"])
        try await store.save(Self.installation("a", .bob))
        #expect(try await due(store, at: noon + .seconds(60)).isEmpty)
    }
}
