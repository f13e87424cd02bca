import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct EncryptionKeyTests {
    private static func installation(
        _ id: String, _ owner: UserName = .alice, handle: String? = nil, document: String = "{}",
        updatedAt: Timestamp = noon
    ) -> Installation {
        Installation(
            id: id, owner: owner, platform: .apple, handle: handle ?? "handle of \(id)",
            document: Array(document.utf8), updatedAt: updatedAt)
    }

    private static func key(_ byte: UInt8) throws -> EncryptionKey {
        try #require(EncryptionKey(point: [4] + [UInt8](repeating: byte, count: 64)))
    }

    private func keys(_ store: any Store, of owner: UserName = .alice) async throws -> [DeviceEncryptionKey] {
        try await store.encryptionKeys(of: owner, limit: 100)
    }

    @Test(arguments: conformingStores)
    func `A key is stored with its installation, and found by its owner`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let key = try #require(EncryptionKey(point: [4] + (0..<64).map { UInt8(truncatingIfNeeded: 220 + $0) }))
        try await store.save(Self.installation("Phone"))
        #expect(try await keys(store).isEmpty)
        #expect(try await store.installation("Phone")?.encryptionKey == nil)
        // The case of an ID does not matter; the first spelling stays.
        let time = noon + .milliseconds(7)
        #expect(try await store.setEncryptionKey(key, of: "pHONE", owner: .alice, now: time))
        let stored = DeviceEncryptionKey(deviceID: "Phone", key: key, createdAt: time)
        #expect(try await keys(store) == [stored])
        #expect(try await keys(store, of: .bob).isEmpty)
        #expect(try await store.installation("phone")?.encryptionKey == stored)
        #expect(try await store.installations(handle: "handle of Phone").map(\.encryptionKey) == [stored])
        #expect(try await store.installations(after: nil, limit: 9).map(\.encryptionKey) == [stored])
        let listed = try await store.installations(of: .alice, after: nil, limit: 9)
        #expect(listed.map(\.encryptionKey) == [stored])
    }

    @Test(arguments: conformingStores)
    func `Only the owner's own installation takes a key`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let key = try Self.key(1)
        #expect(try await !store.setEncryptionKey(key, of: "i", owner: .alice, now: noon))
        try await store.save(Self.installation("i", .bob))
        try await store.save(Registration(id: "r", owner: .alice, platform: .apns, handle: "h", updatedAt: noon))
        for id in ["i", "r", ""] {
            #expect(try await !store.setEncryptionKey(key, of: id, owner: .alice, now: noon))
        }
        #expect(try await keys(store).isEmpty)
        #expect(try await keys(store, of: .bob).isEmpty)
        #expect(try await store.installation("i")?.encryptionKey == nil)
    }

    @Test(arguments: conformingStores)
    func `Owners are compared byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (composed, decomposed) = (try #require(UserName("\u{E9}")), try #require(UserName("e\u{301}")))
        try await store.save(Self.installation("i", composed))
        #expect(try await !store.setEncryptionKey(Self.key(1), of: "i", owner: decomposed, now: noon))
        #expect(try await store.setEncryptionKey(Self.key(1), of: "i", owner: composed, now: noon))
        #expect(try await keys(store, of: composed).count == 1)
        #expect(try await keys(store, of: decomposed).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A new key replaces the old one, and the same key keeps its time`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (first, second) = (try Self.key(1), try Self.key(2))
        try await store.save(Self.installation("i"))
        #expect(try await store.setEncryptionKey(first, of: "i", owner: .alice, now: noon))
        #expect(try await store.setEncryptionKey(first, of: "i", owner: .alice, now: noon + .seconds(1)))
        #expect(try await keys(store).map(\.createdAt) == [noon])
        #expect(try await store.setEncryptionKey(second, of: "i", owner: .alice, now: noon + .seconds(2)))
        let stored = DeviceEncryptionKey(deviceID: "i", key: second, createdAt: noon + .seconds(2))
        #expect(try await keys(store) == [stored])
        #expect(try await store.setEncryptionKey(first, of: "i", owner: .alice, now: noon + .seconds(3)))
        #expect(try await keys(store).map(\.createdAt) == [noon + .seconds(3)])
    }

    @Test(arguments: conformingStores)
    func `An installation that is saved again keeps its key`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("i"))
        #expect(try await store.setEncryptionKey(Self.key(1), of: "i", owner: .alice, now: noon))
        let later = noon + .seconds(60)
        try await store.save(Self.installation("i", updatedAt: later))
        #expect(try await keys(store).map(\.createdAt) == [noon])
        try await store.save(Self.installation("I", handle: "new", document: "{ }", updatedAt: later))
        #expect(try await keys(store).map(\.deviceID) == ["i"])
        // What is saved has no say in it.
        var withKey = Self.installation("i", updatedAt: later)
        withKey.encryptionKey = DeviceEncryptionKey(deviceID: "i", key: try Self.key(2), createdAt: later)
        try await store.save(withKey)
        #expect(try await keys(store).map(\.key) == [Self.key(1)])
        // A key is no change of the installation: it was neither updated nor seen.
        #expect(try await store.setEncryptionKey(Self.key(3), of: "i", owner: .alice, now: later + .seconds(9)))
        let found = try #require(try await store.installation("i"))
        #expect(found.updatedAt == later && found.lastSeenAt == later)
    }

    @Test(arguments: conformingStores)
    func `A removed installation takes its key with it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for id in ["a", "b"] {
            try await store.save(Self.installation(id))
            #expect(try await store.setEncryptionKey(Self.key(1), of: id, owner: .alice, now: noon))
        }
        try await store.removeInstallation("A")
        #expect(try await keys(store).map(\.deviceID) == ["b"])
        // The device registers again, with a key of its own choice later.
        try await store.save(Self.installation("a"))
        #expect(try await keys(store).map(\.deviceID) == ["b"])
        // As a claim adds it.
        let wanted = Self.installation("c")
        let claim = DeviceLease.Condition.claimed(by: wanted, handles: [wanted.handle])
        _ = try await store.lease(.installation, "c", if: claim, now: noon)
        #expect(try await store.installation("c") == wanted)
    }

    @Test(arguments: conformingStores)
    func `Another user who takes a device over does not inherit its key`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("i", handle: "h"))
        #expect(try await store.setEncryptionKey(Self.key(1), of: "i", owner: .alice, now: noon))
        let wanted = Self.installation("i", .bob, handle: "h")
        let claim = DeviceLease.Condition.claimed(by: wanted, handles: ["h"])
        guard case .leased(let lease) = try await store.lease(.installation, "i", if: claim, now: noon) else {
            return #expect(Bool(false))
        }
        #expect(try await keys(store).count == 1)
        #expect(try await store.end(lease, .saveInstallation(wanted, handles: ["h"]), now: noon))
        #expect(try await keys(store).isEmpty)
        #expect(try await keys(store, of: .bob).isEmpty)
        #expect(try await store.installation("i")?.encryptionKey == nil)
        // Nor does the first user get it back.
        try await store.save(Self.installation("i", handle: "h"))
        #expect(try await keys(store).isEmpty)
    }

    @Test(arguments: conformingStores, [0, 1, 3, 100])
    func `Keys are listed in the order of the IDs' bytes, up to a limit`(_ kind: StoreKind, _ limit: Int) async throws {
        let store = try await kind.open()
        let ids = ["b", "a", "C", "10", "9", "_", "z.1", "z-1"]
        for (number, id) in ids.enumerated() {
            try await store.save(Self.installation(id))
            let key = try Self.key(UInt8(number))
            #expect(try await store.setEncryptionKey(key, of: id, owner: .alice, now: noon))
            try await store.save(Self.installation("\(id)-without"))
        }
        let expected = ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        let found = try await store.encryptionKeys(of: .alice, limit: limit)
        #expect(found.map { Array($0.deviceID.utf8) } == Array(expected.prefix(limit)))
        #expect(try await store.encryptionKeys(of: .alice, limit: -1).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A key that was changed by hand is an error, not another key`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        try await test.store.save(Self.installation("i"))
        #expect(try await test.store.setEncryptionKey(Self.key(1), of: "i", owner: .alice, now: noon))
        let bytes = kind == .postgres ? "'\\x0102'" : "x'0102'"
        try await test.execute("UPDATE installations SET encryption_key = \(bytes)")
        let error = await #expect(throws: StorageError.self) { try await keys(test.store) }
        #expect(error?.code == .failed)
    }
}
