import Domain
import Storage
import TestSupport
import Testing

struct RegistrationPagingTests {
    @Test(arguments: conformingStores)
    func `Tags come back in their order, byte for byte`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
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
    }

    @Test(arguments: conformingStores, [1, 3, 100])
    func `All are given in the order of their IDs' bytes, page by page`(_ kind: StoreKind, _ limit: Int) async throws {
        try await withStore(kind) { store in
            let ids = ["b", "C", "a", "10", "9", "\u{E9}", "e\u{301}", "z", "\u{1F511}", "\u{FFFD}", "a b", "a-b", "_"]
            for id in ids { try await store.save(Registration(id: id, owner: .bob, updatedAt: noon)) }
            var found: [[UInt8]] = []
            var after: String?
            repeat {
                let page = try await store.registrations(after: after, limit: limit)
                #expect(page.count <= limit)
                found += page.map { Array($0.id.utf8) }
                after = page.last?.id
            } while after != nil && found.count <= ids.count
            #expect(found == ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
            #expect(try await store.registrations(after: nil, limit: 0).isEmpty)
        }
    }

    @Test(arguments: conformingStores)
    func `A page goes on behind an ID that is no longer there`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            for id in ["a", "b", "c"] { try await store.save(Registration(id: id, owner: .bob, updatedAt: noon)) }
            try await store.removeRegistration("b")
            #expect(try await store.registrations(after: "b", limit: 9).map(\.id) == ["c"])
            #expect(try await store.registrations(after: "aa", limit: 9).map(\.id) == ["c"])
            #expect(try await store.registrations(after: "c", limit: 9).isEmpty)
        }
    }
}
