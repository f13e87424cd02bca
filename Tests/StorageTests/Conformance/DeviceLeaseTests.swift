import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct DeviceLeaseTests {
    private static func installation(
        _ id: String, _ owner: UserName = .alice, handle: String? = nil
    ) -> Installation {
        Installation(
            id: id, owner: owner, platform: .apple, handle: handle ?? "handle of \(id)", document: [7], updatedAt: noon)
    }

    private static func claim(_ installation: Installation, _ store: any Store) async throws -> DeviceLease.Outcome {
        let claim = DeviceLease.Condition.claimed(by: installation, handles: [installation.handle])
        return try await store.lease(.installation, installation.id, if: claim, now: noon)
    }

    @Test(arguments: conformingStores)
    func `A free ID is claimed by storing the installation; another user's is refused`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let first = Self.installation("Dev-1")
        guard case .leased(let lease) = try await Self.claim(first, store) else { return #expect(Bool(false)) }
        #expect(lease.isNew && !lease.isInDoubt && lease.id == "Dev-1")
        #expect(try await store.installation("Dev-1") == first)
        for id in ["Dev-1", "dev-1", "DEV-1"] {
            #expect(try await Self.claim(Self.installation(id, .bob, handle: "other"), store) == .refused)
            #expect(try await store.installation(id)?.owner == .alice)
        }
        let ended = try await store.end(lease, .saveInstallation(first, handles: [first.handle]), now: noon)
        #expect(ended)
        #expect(try await Self.claim(Self.installation("dev-1", .bob, handle: "other"), store) == .refused)
        // The owner's ID in another case is the same one, in its first spelling.
        guard case .leased(let again) = try await Self.claim(Self.installation("dEV-1"), store) else {
            return #expect(Bool(false))
        }
        #expect(!again.isNew && again.id == "Dev-1")
        #expect(try await store.end(again, .keep, now: noon))
        // And who presents its handle may have it.
        let taking = Self.installation("dev-1", .bob, handle: first.handle)
        guard case .leased(let taken) = try await Self.claim(taking, store) else { return #expect(Bool(false)) }
        #expect(try await store.installation("dev-1")?.owner == .alice)
        #expect(try await store.end(taken, .saveInstallation(taking, handles: [first.handle]), now: noon))
        let known = try await store.installations(after: nil, limit: 9)
        #expect(known.map(\.id) == ["Dev-1"] && known.map(\.owner) == [.bob])
    }

    @Test(arguments: conformingStores)
    func `Of many users who claim one new ID at once, one gets it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for round in 0..<5 {
            let outcomes = try await withThrowingTaskGroup(of: DeviceLease.Outcome.self) { group in
                for number in 0..<20 {
                    let owner = try #require(UserName("user \(number)"))
                    let id = number.isMultiple(of: 2) ? "Phone-\(round)" : "phone-\(round)"
                    let wanted = Self.installation(id, owner, handle: "\(round) \(number)")
                    group.addTask { try await Self.claim(wanted, store) }
                }
                return try await group.reduce(into: [DeviceLease.Outcome]()) { $0.append($1) }
            }
            #expect(outcomes.count { if case .leased = $0 { true } else { false } } == 1)
            #expect(outcomes.count { $0 == .refused } == 19)
            #expect(try await store.installations(after: nil, limit: 99).count == round + 1)
        }
    }

    @Test(arguments: conformingStores)
    func `One at a time has the lease of a device; one that expired ends nothing`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for kind in DeviceLease.Kind.allCases {
            try await store.save(Self.installation("i"))
            try await store.save(Registration(id: "i", owner: .alice, platform: .wns, handle: "h", updatedAt: noon))
            let ask = { (time: Timestamp) in
                try await store.lease(kind, "I", if: .owned(by: .alice), now: time)
            }
            guard case .leased(let first) = try await ask(noon) else { return #expect(Bool(false)) }
            let justBefore = noon + DeviceLease.duration - .milliseconds(1)
            #expect(try await ask(justBefore) == .busy)
            #expect(try await store.expiredLeases(limit: 9, now: justBefore).isEmpty)
            let expiry = noon + DeviceLease.duration
            #expect(
                try await store.expiredLeases(limit: 9, now: expiry) == [.init(kind: kind, id: "i")])
            guard case .leased(let second) = try await ask(expiry) else { return #expect(Bool(false)) }
            #expect(second.isInDoubt && !first.isInDoubt)
            #expect(try await store.end(first, .remove, now: expiry) == false)
            try await store.expire(first, now: noon)
            #expect(try await ask(expiry) == .busy)
            #expect(try await store.end(second, .remove, now: expiry))
            #expect(try await store.expiredLeases(limit: 9, now: expiry + .seconds(99)).isEmpty)
            #expect(try await ask(expiry) == .refused)
            switch kind {
            case .installation: #expect(try await store.installation("i") == nil)
            case .registration: #expect(try await store.registration("i") == nil)
            }
        }
    }

    @Test(arguments: conformingStores)
    func `A lease that is let go can be taken at once, in doubt`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        guard case .leased(let lease) = try await Self.claim(Self.installation("i"), store) else {
            return #expect(Bool(false))
        }
        try await store.expire(lease, now: noon)
        #expect(try await store.expiredLeases(limit: 9, now: noon) == [.init(kind: .installation, id: "i")])
        #expect(try await store.expiredLeases(limit: 0, now: noon).isEmpty)
        guard case .leased(let next) = try await Self.claim(Self.installation("i"), store) else {
            return #expect(Bool(false))
        }
        #expect(next.isInDoubt && !next.isNew)
    }

    @Test(arguments: conformingStores)
    func `Each condition is looked at`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.save(Self.installation("i", handle: "h"))
        try await store.save(Registration(id: "r", owner: .alice, updatedAt: noon))
        let cases: [(DeviceLease.Kind, String, DeviceLease.Condition, Bool)] = [
            (.installation, "i", .owned(by: .alice), true), (.installation, "i", .owned(by: .bob), false),
            (.installation, "x", .owned(by: .bob), false), (.installation, "i", .holding(["g", "h"]), true),
            (.installation, "i", .holding(["H"]), false), (.installation, "i", .holding([]), false),
            (.installation, "x", .holding(["h"]), false), (.installation, "I", .absent, false),
            (.installation, "r", .absent, true), (.registration, "i", .absent, true),
            (.registration, "R", .absent, false), (.registration, "r", .holding(["h"]), false),
            (.registration, "r", .owned(by: .alice), true), (.registration, "r", .owned(by: .bob), false),
            (.installation, "x", .any, true), (.registration, "r", .any, true),
        ]
        for (kind, id, condition, isMet) in cases {
            switch try await store.lease(kind, id, if: condition, now: noon) {
            case .leased(let lease):
                #expect(isMet, "\(kind) \(id) \(condition)")
                #expect(try await store.end(lease, .keep, now: noon))
            case let outcome: #expect(!isMet && outcome == .refused, "\(kind) \(id) \(condition)")
            }
        }
    }

    @Test(arguments: conformingStores)
    func `A user has at most 100 installations, however many are claimed at once`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for number in 0..<95 { try await store.save(Self.installation("i\(number)")) }
        // Another user's, whose handles are presented, count too.
        for number in 0..<5 { try await store.save(Self.installation("t\(number)", .bob)) }
        let outcomes = try await withThrowingTaskGroup(of: DeviceLease.Outcome.self) { group in
            for number in 0..<5 {
                group.addTask { try await Self.claim(Self.installation("n\(number)"), store) }
                group.addTask { try await Self.claim(Self.installation("t\(number)"), store) }
            }
            return try await group.reduce(into: [DeviceLease.Outcome]()) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .tooMany } == 5)
        #expect(outcomes.count { if case .leased = $0 { true } else { false } } == 5)
        #expect(try await Self.claim(Self.installation("one more"), store) == .tooMany)
        #expect(try await store.installation("one more") == nil)
        // Other users, own IDs, and a handle that one of the user's installations gives up, stay possible.
        for allowed in [
            Self.installation("one more", .bob), Self.installation("i1"),
            Self.installation("reinstalled", handle: "handle of i2"),
        ] {
            guard case .leased = try await Self.claim(allowed, store) else { return #expect(Bool(false)) }
        }
    }

    @Test(arguments: conformingStores)
    func `A handle is new once, in any spelling, until the hub was asked for it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let save = { (id: String, kind: DeviceLease.Kind, handle: String, handles: [String], time: Timestamp) in
            guard case .leased(let lease) = try await store.lease(kind, id, if: .any, now: time) else { return }
            var change = DeviceLease.Change.saveInstallation(
                Self.installation(id, handle: handle), handles: handles)
            if kind == .registration {
                let registration = Registration(
                    id: id, owner: .bob, platform: .apns, handle: handle, updatedAt: noon)
                change = .saveRegistration(registration, handles: handles)
            }
            #expect(try await store.end(lease, change, now: time))
        }
        #expect(try await store.leaseNewHandle(now: noon, until: noon) == nil)
        try await save("i1", .installation, "ab", ["AB", "ab"], noon)
        // Stored again before the hub was asked: it waits as before, once.
        try await save("i1", .installation, "ab", ["AB", "ab"], noon + .seconds(5))
        #expect(try await store.leaseNewHandle(now: noon - .seconds(1), until: noon) == nil)
        #expect(try await store.leaseNewHandle(now: noon, until: noon + .seconds(60)) == "ab")
        #expect(try await store.leaseNewHandle(now: noon + .seconds(59), until: due) == nil)
        // It changed hands before the hub was asked: still new.
        try await save("r1", .registration, "AB", ["AB", "ab"], noon)
        try await store.removeInstallation("i1")
        #expect(try await store.leaseNewHandle(now: noon, until: noon) == "AB")
        try await store.settleNewHandle(["AB", "ab"])
        #expect(try await store.leaseNewHandle(now: due, until: due) == nil)
        // Known now, for any user and any ID.
        try await save("i2", .installation, "ab", ["AB", "ab"], due)
        try await store.removeRegistration("r1")
        try await save("r2", .registration, "AB", ["AB", "ab"], due)
        try await save("i2", .installation, "ab", ["AB", "ab"], due)
        #expect(try await store.leaseNewHandle(now: due, until: due) == nil)
        // A device that comes with another one.
        try await save("i2", .installation, "cd", ["CD", "cd"], due)
        #expect(try await store.leaseNewHandle(now: due, until: due) == "cd")
    }
}
