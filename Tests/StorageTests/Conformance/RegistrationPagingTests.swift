import Domain
import Storage
import TestSupport
import Testing

@Suite(.stores) struct RegistrationPagingTests {
    @Test(arguments: conformingStores)
    func `Tags come back in their order, byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let tags = [
            "username:alice", "\u{E9}", "e\u{301}", "a,b", "\"q\" \\ '", "{}", "", "username:alice", "NULL",
        ]
        var saved = Registration(
            id: "r1", owner: .alice, platform: .apns, handle: "h", tags: tags, updatedAt: noon)
        try await store.save(saved)
        let found = [
            try await store.registration("r1", owner: .alice), try await store.registrations(handle: "h").first,
            try await store.registrations(after: nil, limit: 1).first,
        ]
        for one in found { #expect(one?.tags.map { Array($0.utf8) } == tags.map { Array($0.utf8) }) }
        saved.tags = []
        try await store.save(saved)
        #expect(try await store.registration("r1", owner: .alice)?.tags == [])
    }

    @Test(arguments: conformingStores, DeviceLease.Kind.allCases)
    func `All are given in the order of their IDs' bytes`(_ kind: StoreKind, _ device: DeviceLease.Kind) async throws {
        let store = try await kind.open()
        let ids = ["b", "C", "a", "10", "9", "\u{E9}", "e\u{301}", "z", "\u{1F511}", "\u{FFFD}", "a b", "a-b", "_"]
        for id in ids {
            try await store.save(Registration(id: id, owner: .bob, updatedAt: noon))
            try await store.save(
                Installation(id: id, owner: .bob, platform: .apple, handle: "h1", document: [], updatedAt: noon))
        }
        func page(after id: String?, limit: Int) async throws -> [String] {
            switch device {
            case .registration: try await store.registrations(after: id, limit: limit).map(\.id)
            case .installation: try await store.installations(after: id, limit: limit).map(\.id)
            }
        }
        for limit in [1, 3, 100] {
            var found: [String] = []
            var after: String?
            repeat {
                let ids = try await page(after: after, limit: limit)
                #expect(ids.count <= limit)
                found += ids
                after = ids.last
            } while after != nil && found.count <= ids.count
            let expected = ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(found.map { Array($0.utf8) } == expected)
        }
        #expect(try await page(after: nil, limit: 0).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A page goes on behind an ID that is no longer there`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for id in ["a", "b", "c"] { try await store.save(Registration(id: id, owner: .bob, updatedAt: noon)) }
        try await store.removeRegistration("b")
        #expect(try await store.registrations(after: "b", limit: 9).map(\.id) == ["c"])
        #expect(try await store.registrations(after: "aa", limit: 9).map(\.id) == ["c"])
        #expect(try await store.registrations(after: "c", limit: 9).isEmpty)
    }
}
