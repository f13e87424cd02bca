import Domain
import Storage
import TestSupport
import Testing

@Suite(.stores) struct RegisteredPlatformsTests {
    private static func installation(_ id: String, _ owner: UserName, _ platform: Platform) -> Installation {
        Installation(id: id, owner: owner, platform: platform, handle: id, document: [], updatedAt: noon)
    }

    @Test(arguments: conformingStores)
    func `Installations and registrations both count, each platform once`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let carol = try #require(UserName("carol"))
        try await store.save(Registration(id: "r1", owner: .alice, platform: .apns, handle: "1", updatedAt: noon))
        try await store.save(Registration(id: "r2", owner: .alice, platform: .wns, handle: "2", updatedAt: noon))
        try await store.save(Registration(id: "r3", owner: .bob, platform: .fcmv1, handle: "3", updatedAt: noon))
        try await store.save(Self.installation("i1", .alice, .apple))
        try await store.save(Self.installation("i2", .alice, Platform(rawValue: "browser")))
        try await store.save(Self.installation("i3", carol, .gcm))
        let platforms = try await store.platforms(of: [.alice, .bob, carol, .alice])
        #expect(
            platforms == [
                .alice: [.apple, .windows, Platform(rawValue: "browser")], .bob: [.fcmv1], carol: [.gcm],
            ])
        #expect(try await store.platforms(of: [.bob]) == [.bob: [.fcmv1]])
        #expect(try await store.deviceCount(of: .alice) == 4)
        #expect(try await store.deviceCount(of: carol) == 1)
    }

    @Test(arguments: conformingStores)
    func `A user without any is absent, and so is one with an ID only`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Registration(id: "r1", owner: .bob, updatedAt: noon))
        #expect(try await store.platforms(of: [.alice, .bob]).isEmpty)
        #expect(try await store.platforms(of: []).isEmpty)
        #expect(try await store.deviceCount(of: .alice) == 0)
        #expect(try await store.deviceCount(of: .bob) == 0)
    }

    @Test(arguments: conformingStores)
    func `What is removed or taken over no longer counts`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Registration(id: "r1", owner: .alice, platform: .apns, handle: "1", updatedAt: noon))
        try await store.save(Registration(id: "r1", owner: .bob, platform: .apns, handle: "1", updatedAt: noon))
        try await store.save(Self.installation("i1", .alice, .windows))
        try await store.save(Self.installation("i1", .bob, .windows))
        #expect(try await store.platforms(of: [.alice, .bob]) == [.bob: [.apple, .windows]])
        try await store.removeInstallation("i1")
        try await store.removeRegistration("r1")
        #expect(try await store.platforms(of: [.alice, .bob]).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Users are compared byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let names = try ["\u{E9}", "e\u{301}", "alice", "Alice"].map { try #require(UserName($0)) }
        try await store.save(Self.installation("i1", names[0], .apple))
        try await store.save(Self.installation("i2", names[1], .windows))
        try await store.save(Registration(id: "r1", owner: names[2], platform: .gcm, handle: "1", updatedAt: noon))
        #expect(
            try await store.platforms(of: names) == [names[0]: [.apple], names[1]: [.windows], names[2]: [.gcm]])
    }

    @Test(arguments: conformingStores)
    func `Many users are asked for at once`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let users = try (0..<300).map { try #require(UserName("user-\($0)")) }
        for (index, user) in users.enumerated() where index % 3 == 0 {
            try await store.save(Self.installation("i\(index)", user, .apple))
        }
        let platforms = try await store.platforms(of: users)
        #expect(platforms.count == 100 && platforms.values.allSatisfy { $0 == [.apple] })
    }
}
