import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct DeviceLifeTests {
    private static func installation(
        _ id: String, _ owner: UserName = .alice, document: String = "{}", updatedAt: Timestamp = noon,
        expiresAt: Timestamp? = nil
    ) -> Installation {
        Installation(
            id: id, owner: owner, platform: .apple, handle: "handle of \(id)", document: Array(document.utf8),
            updatedAt: updatedAt, expiresAt: expiresAt)
    }

    private static func registration(_ id: String, _ owner: UserName = .alice, at time: Timestamp = noon)
        -> Registration
    {
        Registration(id: id, owner: owner, platform: .apns, handle: "handle of \(id)", updatedAt: time)
    }

    @Test(arguments: conformingStores)
    func `The times of an installation are kept`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for expiresAt in [nil, noon - .seconds(7), Timestamp.supported.upperBound] {
            var saved = Self.installation("i", document: "\(expiresAt?.description ?? "")", expiresAt: expiresAt)
            saved.lastSeenAt = noon + .seconds(3)
            try await store.save(saved)
            let found = try await store.installation("i")
            #expect(found == saved)
        }
    }

    @Test(arguments: conformingStores)
    func `A claim stores the times as well`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let wanted = Self.installation("New", expiresAt: noon + .seconds(1))
        let claim = DeviceLease.Condition.claimed(by: wanted, handles: [wanted.handle])
        guard case .leased(let lease) = try await store.lease(.installation, "New", if: claim, now: noon) else {
            return #expect(Bool(false))
        }
        #expect(lease.isNew)
        #expect(try await store.installation("new") == wanted)
    }

    @Test(arguments: conformingStores)
    func `A device that is saved unchanged was seen, and has not changed`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let later = noon + .seconds(60)
        try await store.save(Self.installation("i"))
        try await store.save(Self.installation("i", updatedAt: later, expiresAt: later))
        let renewed = try #require(try await store.installation("i"))
        #expect(renewed.updatedAt == noon && renewed.lastSeenAt == later && renewed.expiresAt == later)
        try await store.save(Self.installation("i", document: "{ }", updatedAt: later))
        let changed = try #require(try await store.installation("i"))
        #expect(changed.updatedAt == later && changed.expiresAt == nil)
        try await store.save(Self.installation("i", .bob, document: "{ }", updatedAt: later + .seconds(1)))
        #expect(try await store.installation("i")?.updatedAt == later + .seconds(1))
    }

    @Test(arguments: conformingStores, [1, 2, 9])
    func `Installations are listed in the order of their IDs' bytes`(_ kind: StoreKind, _ limit: Int) async throws {
        let store = try await kind.open()
        let ids = ["b", "B", "a", "10", "9", "_", "\u{E9}", "e\u{301}"]
        for id in ids {
            try await store.save(Self.installation(id + "x", .bob))
            try await store.save(Self.installation(id))
        }
        var found: [String] = []
        var after: String?
        repeat {
            let page = try await store.installations(of: .alice, after: after, limit: limit)
            #expect(page.count <= limit && page.allSatisfy { $0.owner == .alice })
            found += page.map(\.id)
            after = page.last?.id
        } while after != nil && found.count <= ids.count
        // "B" is the device "b", in its first spelling.
        let expected = ids.filter { $0 != "B" }.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(found.map { Array($0.utf8) } == expected)
        #expect(try await store.installations(of: .alice, after: nil, limit: 0).isEmpty)
        #expect(try await store.installations(of: #require(UserName("carol")), after: nil, limit: 9).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A user's devices of both kinds are found, up to a limit of each`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for number in 0..<5 {
            try await store.save(Self.installation("i\(number)"))
            try await store.save(Self.registration("r\(number)"))
            try await store.save(Self.registration("b\(number)", .bob))
        }
        try await store.save(Registration(id: "bare", owner: .alice, updatedAt: noon))
        let all = try await store.devices(of: .alice, limit: 9)
        let installations = Set((0..<5).map { DeviceReference(kind: .installation, id: "i\($0)") })
        let registrations = Set(
            ((0..<5).map { "r\($0)" } + ["bare"]).map { DeviceReference(kind: .registration, id: $0) })
        #expect(Set(all) == installations.union(registrations) && all.count == 11)
        let some = try await store.devices(of: .alice, limit: 2)
        #expect(some.count == 4 && some.count { $0.kind == .installation } == 2 && Set(some).isSubset(of: all))
        #expect(try await store.devices(of: .alice, limit: 0).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Devices are due when they expire and when they were not seen for long`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("expiring", updatedAt: noon, expiresAt: noon + .seconds(9)))
        try await store.save(Self.installation("never", updatedAt: noon))
        try await store.save(Self.installation("old", updatedAt: noon - .seconds(50)))
        try await store.save(Self.registration("seen"))
        try await store.save(Self.registration("unseen", at: noon - .seconds(50)))
        let due = { (unseenSince: Timestamp, now: Timestamp) in
            Set(try await store.dueDevices(unseenSince: unseenSince, limit: 9, now: now).map(\.id))
        }
        let past = noon - .seconds(51)
        #expect(try await due(past, noon + .seconds(9) - .milliseconds(1)) == [])
        #expect(try await due(past, noon + .seconds(9)) == ["expiring"])
        #expect(try await due(noon - .seconds(50), noon) == ["old", "unseen"])
        #expect(try await due(noon, noon) == ["expiring", "never", "old", "seen", "unseen"])
        // A renewal without a change counts.
        try await store.save(Self.installation("old", updatedAt: noon + .seconds(1)))
        #expect(try await store.installation("old")?.updatedAt == noon - .seconds(50))
        #expect(try await due(noon - .seconds(50), noon) == ["unseen"])
        #expect(try await store.dueDevices(unseenSince: noon, limit: 1, now: noon + .seconds(9)).count == 3)
        #expect(try await store.dueDevices(unseenSince: noon, limit: 0, now: noon).isEmpty)
    }
}
