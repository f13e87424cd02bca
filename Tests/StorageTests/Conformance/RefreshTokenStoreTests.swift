import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct RefreshTokenStoreTests {
    private static func family(
        _ number: UInt8, _ owner: UserName = .alice, hash: UInt8 = 1, expiresAt: Timestamp = noon + .seconds(60)
    ) -> RefreshFamily {
        RefreshFamily(
            id: [UInt8](repeating: number, count: 16), owner: owner, userEntry: "entry",
            tokenHash: [UInt8](repeating: hash, count: 32), expiresAt: expiresAt)
    }

    @Test(arguments: conformingStores)
    func `What is added is found, and a family that is removed is not`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let families = [Self.family(0), Self.family(255, .bob, expiresAt: noon - .seconds(9))]
        for family in families { try await store.add(family) }
        for family in families { #expect(try await store.refreshFamily(family.id) == family) }
        #expect(try await store.refreshFamily([UInt8](repeating: 7, count: 16)) == nil)
        #expect(try await store.refreshFamily([]) == nil)
        try await store.removeRefreshFamily(families[0].id)
        try await store.removeRefreshFamily(families[0].id)
        #expect(try await store.refreshFamily(families[0].id) == nil)
        #expect(try await store.refreshFamily(families[1].id) != nil)
    }

    @Test(arguments: conformingStores)
    func `A token is replaced only by its own hash and before it expires`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let old = Self.family(1)
        try await store.add(old)
        var next = Self.family(1, .bob, hash: 2, expiresAt: noon + .seconds(99))
        next.replaced = RefreshFamily.ReplacedToken(hash: old.tokenHash, usedAt: noon)
        let wrong = [UInt8](repeating: 9, count: 32)
        #expect(try await store.renew(next, replacing: wrong, now: noon) == false)
        #expect(try await store.renew(next, replacing: old.tokenHash, now: old.expiresAt) == false)
        #expect(try await store.renew(Self.family(8), replacing: old.tokenHash, now: noon) == false)
        #expect(try await store.refreshFamily(old.id) == old)
        #expect(try await store.renew(next, replacing: old.tokenHash, now: noon))
        let found = try #require(try await store.refreshFamily(old.id))
        #expect(found.tokenHash == next.tokenHash && found.expiresAt == next.expiresAt)
        #expect(found.owner == .alice && found.userEntry == "entry")
        #expect(found.replaced == next.replaced)
        #expect(try await store.renew(next, replacing: old.tokenHash, now: noon) == false)
    }

    @Test(arguments: conformingStores)
    func `Of many that replace one token at once, one succeeds`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for round in UInt8(0)..<5 {
            let old = Self.family(round)
            try await store.add(old)
            let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
                for hash in UInt8(2)..<22 {
                    let next = Self.family(round, hash: hash)
                    group.addTask { try await store.renew(next, replacing: old.tokenHash, now: noon) }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wins == 1)
        }
    }

    @Test(arguments: conformingStores)
    func `A user has at most 100 families; those that expire first go`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.add(Self.family(200, .bob, expiresAt: noon))
        for number in UInt8(0)..<102 {
            try await store.add(Self.family(number, expiresAt: noon + .seconds(Int(number))))
        }
        for number in UInt8(0)..<102 {
            let isThere = try await store.refreshFamily(Self.family(number).id) != nil
            #expect(isThere == (number >= 2), "\(number)")
        }
        #expect(try await store.refreshFamily(Self.family(200).id) != nil)
    }

    @Test(arguments: conformingStores)
    func `Expired families are purged, up to a limit`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for number in UInt8(0)..<5 {
            try await store.add(Self.family(number, expiresAt: noon + .seconds(Int(number))))
        }
        #expect(try await store.purgeRefreshFamilies(limit: 9, now: noon - .milliseconds(1)) == 0)
        #expect(try await store.purgeRefreshFamilies(limit: 0, now: noon + .seconds(9)) == 0)
        #expect(try await store.purgeRefreshFamilies(limit: 2, now: noon + .seconds(2)) == 2)
        #expect(try await store.purgeRefreshFamilies(limit: 2, now: noon + .seconds(2)) == 1)
        #expect(try await store.refreshFamily(Self.family(3).id) != nil)
    }
}
