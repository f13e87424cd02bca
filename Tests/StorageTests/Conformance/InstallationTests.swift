import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct InstallationTests {
    private static func installation(
        _ id: String, _ owner: UserName = .alice, handle: String = "h1", document: [UInt8] = Array("{}".utf8)
    ) -> Installation {
        Installation(id: id, owner: owner, platform: .apple, handle: handle, document: document, updatedAt: noon)
    }

    @Test(arguments: conformingStores)
    func `What is saved is found, its document byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let text = #"{"installationId" : "i1", "tags":["e\#u{301}","\#u{E9}"],"n":1.0e+2,"q":"\" \\ \u0000"}"#
        let saved = Installation(
            id: "i1", owner: .bob, platform: Platform(rawValue: "browser"), handle: "https://push.example/?x=1",
            document: Array(text.utf8), updatedAt: noon + .milliseconds(7))
        try await store.save(saved)
        #expect(try await store.installation("i1") == saved)
        #expect(try await store.installation("i2") == nil)
    }

    @Test(arguments: conformingStores)
    func `A document may hold any bytes, or none`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for document in [[], [0, 255, 10, 92, 39], (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }] {
            try await store.save(Self.installation("i1", document: document))
            #expect(try await store.installation("i1")?.document == document)
        }
    }

    @Test(arguments: conformingStores)
    func `Saving replaces all of it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("i1"))
        let later = Installation(
            id: "i1", owner: .bob, platform: .windows, handle: "h2", document: [7], updatedAt: noon + .seconds(1))
        try await store.save(later)
        #expect(try await store.installation("i1") == later)
        #expect(try await store.installations(handle: "h1").isEmpty)
        #expect(try await store.installations(handle: "h2") == [later])
        #expect(try await store.installations(after: nil, limit: 9) == [later])
    }

    @Test(arguments: conformingStores)
    func `A handle's installations are found whoever owns them, byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("i2", .bob, handle: "\u{E9}"))
        try await store.save(Self.installation("i1", handle: "\u{E9}"))
        try await store.save(Self.installation("i3", handle: "e\u{301}"))
        try await store.save(Self.installation("i4", handle: "\u{C9}"))
        #expect(Set(try await store.installations(handle: "\u{E9}").map(\.id)) == ["i1", "i2"])
        #expect(try await store.installations(handle: "e\u{301}").map(\.id) == ["i3"])
        #expect(try await store.installations(handle: "").isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A long handle is kept whole`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let handle = "https://push.example/" + String(repeating: "aB3%2f", count: 700)
        try await store.save(Self.installation("i1", handle: handle))
        #expect(try await store.installations(handle: handle).map(\.handle) == [handle])
    }

    @Test(arguments: conformingStores)
    func `IDs and owners are kept and compared byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for id in ["\u{E9}", "e\u{301}"] {
            let owner = try #require(UserName(id))
            try await store.save(Self.installation(id, owner, document: Array(id.utf8)))
        }
        #expect(try await store.installations(after: nil, limit: 9).count == 2)
        for id in ["\u{E9}", "e\u{301}"] {
            let found = try #require(try await store.installation(id))
            #expect(found.id.utf8.elementsEqual(id.utf8) && found.owner == UserName(id))
            #expect(found.document == Array(id.utf8))
        }
        try await store.removeInstallation("\u{E9}")
        #expect(try await store.installation("\u{E9}") == nil)
        #expect(try await store.installation("e\u{301}") != nil)
    }

    @Test(arguments: conformingStores)
    func `Removing forgets, and ignores what is unknown`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("i1", .bob))
        try await store.removeInstallation("i9")
        #expect(try await store.installation("i1") != nil)
        try await store.removeInstallation("i1")
        #expect(try await store.installation("i1") == nil)
        #expect(try await store.installations(handle: "h1").isEmpty)
        #expect(try await store.installations(after: nil, limit: 9).isEmpty)
    }
}
