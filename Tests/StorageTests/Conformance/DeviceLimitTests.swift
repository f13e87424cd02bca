import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct DeviceLimitTests {
    /// How many of a user's devices are of which kind; the rest are registrations without a device.
    struct Mix: Sendable, CustomStringConvertible {
        var installations: Int
        var registrations: Int

        var description: String { "\(installations) installations, \(registrations) registrations" }
    }

    private static let mixes = [
        Mix(installations: 100, registrations: 0), Mix(installations: 0, registrations: 100),
        Mix(installations: 60, registrations: 40), Mix(installations: 1, registrations: 1),
    ]

    private static func installation(_ id: String, _ owner: UserName = .alice, _ handle: String) -> Installation {
        Installation(id: id, owner: owner, platform: .apple, handle: handle, document: [7], updatedAt: noon)
    }

    private static func registration(_ id: String, _ owner: UserName = .alice, _ handle: String?) -> Registration {
        Registration(id: id, owner: owner, platform: handle == nil ? nil : .apns, handle: handle, updatedAt: noon)
    }

    private static func fill(_ store: any Store, _ mix: Mix, of owner: UserName = .alice) async throws {
        for number in 0..<mix.installations { try await store.save(installation("i\(number)", owner, "hi\(number)")) }
        for number in 0..<mix.registrations { try await store.save(registration("r\(number)", owner, "hr\(number)")) }
        for number in (mix.installations + mix.registrations)..<100 {
            try await store.save(registration("e\(number)", owner, nil))
        }
    }

    private static func claim(_ installation: Installation, _ store: any Store) async throws -> DeviceLease.Outcome {
        let claim = DeviceLease.Condition.claimed(by: installation, handles: [installation.handle])
        return try await store.lease(.installation, installation.id, if: claim, now: noon)
    }

    @Test(arguments: conformingStores, mixes)
    func `Installations and registrations count together`(_ kind: StoreKind, _ mix: Mix) async throws {
        let store = try await kind.open()
        try await Self.fill(store, mix)
        #expect(try await Self.claim(Self.installation("one more", .alice, "h"), store) == .tooMany)
        #expect(try await store.installation("one more") == nil)
        #expect(try await store.lease(.registration, "new", if: .new(for: .alice), now: noon) == .tooMany)
        #expect(try await store.expiredLeases(limit: 9, now: noon + DeviceLease.duration).isEmpty)
        // Another user is not concerned.
        guard case .leased = try await store.lease(.registration, "b", if: .new(for: .bob), now: noon),
            case .leased = try await Self.claim(Self.installation("b", .bob, "hb"), store)
        else { return #expect(Bool(false)) }
    }

    @Test(arguments: conformingStores)
    func `A renewal needs no room, and neither does a device that replaces another`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await Self.fill(store, Mix(installations: 50, registrations: 45))
        guard case .leased = try await Self.claim(Self.installation("I1", .alice, "other"), store),
            case .leased = try await store.lease(.registration, "r1", if: .owned(by: .alice), now: noon),
            case .leased = try await store.lease(.registration, "e99", if: .owned(by: .alice), now: noon),
            case .leased = try await Self.claim(Self.installation("reinstalled", .alice, "hi2"), store)
        else { return #expect(Bool(false)) }
    }

    /// It was registered in the tutorial's form, and is now registered as an installation.
    @Test(arguments: conformingStores)
    func `An installation may replace a registration with its handle`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await Self.fill(store, Mix(installations: 50, registrations: 50))
        guard case .leased = try await Self.claim(Self.installation("moved", .alice, "hr7"), store) else {
            return #expect(Bool(false))
        }
    }

    @Test(arguments: conformingStores)
    func `Taking over another user's device needs room`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await Self.fill(store, Mix(installations: 30, registrations: 70))
        try await store.save(Self.installation("of bob", .bob, "hb"))
        #expect(try await Self.claim(Self.installation("of bob", .alice, "hb"), store) == .tooMany)
        #expect(try await store.installation("of bob")?.owner == .bob)
        try await store.removeRegistration("r1")
        guard case .leased = try await Self.claim(Self.installation("of bob", .alice, "hb"), store) else {
            return #expect(Bool(false))
        }
    }

    @Test(arguments: conformingStores)
    func `A known registration ID is not new`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.registration("Known", .bob, "h"))
        for owner in [UserName.alice, .bob] {
            let outcome = try await store.lease(.registration, "kNOWN", if: .new(for: owner), now: noon)
            #expect(outcome == .refused)
        }
    }

    @Test(arguments: conformingStores)
    func `However many are claimed at once, the limit holds`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await Self.fill(store, Mix(installations: 40, registrations: 40))
        for number in 90..<100 { try await store.removeRegistration("e\(number)") }
        for number in 0..<10 { try await store.save(Self.installation("t\(number)", .bob, "ht\(number)")) }
        let outcomes = try await withThrowingTaskGroup(of: DeviceLease.Outcome.self) { group in
            for number in 0..<10 {
                group.addTask { try await Self.claim(Self.installation("n\(number)", .alice, "x\(number)"), store) }
                group.addTask {
                    try await Self.claim(Self.installation("t\(number)", .alice, "ht\(number)"), store)
                }
                group.addTask {
                    try await store.lease(.registration, "q\(number)", if: .new(for: .alice), now: noon)
                }
            }
            return try await group.reduce(into: [DeviceLease.Outcome]()) { $0.append($1) }
        }
        #expect(outcomes.count { if case .leased = $0 { true } else { false } } == 10)
        #expect(outcomes.count { $0 == .tooMany } == 20)
    }
}
