import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct RegistrationTests {
    private static func registration(
        _ id: String, _ owner: UserName = .alice, handle: String? = "h1"
    ) -> Registration {
        Registration(id: id, owner: owner, platform: .fcmv1, handle: handle, updatedAt: noon)
    }

    @Test(arguments: conformingStores)
    func `What is saved is its owner's only`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let saved = Self.registration("r1")
        try await store.save(saved)
        #expect(try await store.registration("r1", owner: .alice) == saved)
        #expect(try await store.registration("r1", owner: .bob) == nil)
        #expect(try await store.registration("r2", owner: .alice) == nil)
    }

    @Test(arguments: conformingStores)
    func `An ID without a device yet comes back as it is`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let saved = Registration(id: "r1", owner: .alice, updatedAt: noon)
        try await store.save(saved)
        #expect(try await store.registration("r1", owner: .alice) == saved)
    }

    @Test(arguments: conformingStores)
    func `Saving replaces, and hands over to the new owner`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.registration("r1"))
        let later = Registration(
            id: "r1", owner: .bob, platform: .apns, handle: "h2", updatedAt: noon + .seconds(1))
        try await store.save(later)
        #expect(try await store.registration("r1", owner: .alice) == nil)
        #expect(try await store.registration("r1", owner: .bob) == later)
        #expect(try await store.registrations(handle: "h1").isEmpty)
        #expect(try await store.registrations(handle: "h2") == [later])
    }

    @Test(arguments: conformingStores)
    func `A handle's registrations are found whoever owns them`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.registration("r2", .bob))
        try await store.save(Self.registration("r1"))
        try await store.save(Self.registration("r3", handle: "H1"))
        try await store.save(Self.registration("r4", handle: nil))
        #expect(Set(try await store.registrations(handle: "h1").map(\.id)) == ["r1", "r2"])
        #expect(try await store.registrations(handle: "").isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Removing forgets, and ignores what is unknown`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.registration("r1"))
        try await store.removeRegistration("r9")
        try await store.removeRegistration("r1")
        #expect(try await store.registration("r1", owner: .alice) == nil)
        #expect(try await store.registrations(handle: "h1").isEmpty)
    }

    @Test(arguments: conformingStores)
    func `IDs, handles and owners are compared byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let owner = try #require(UserName(composed))
        try await store.save(Self.registration(composed, owner, handle: composed))
        #expect(try await store.registration(decomposed, owner: owner) == nil)
        #expect(try await store.registration(composed, owner: try #require(UserName(decomposed))) == nil)
        #expect(try await store.registrations(handle: decomposed).isEmpty)
        #expect(try await store.registrations(handle: composed).count == 1)
    }

    @Test(arguments: conformingStores)
    func `A long handle is kept whole`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let handle = "https://wns.example/?token=" + String(repeating: "aB3%2f", count: 170)
        try await store.save(Self.registration("r1", handle: handle))
        #expect(try await store.registrations(handle: handle).map(\.handle) == [handle])
    }
}
