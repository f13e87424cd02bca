import Domain
import Foundations
import TestSupport
import Testing

@testable import Storage

@Suite(.stores) struct HubRegistrationTests {
    @Test(arguments: hubStores)
    func `What is stored is found in any case of its ID`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        var sample = HubRegistrationRow.sample(
            "Aa-1", tags: ["Username:Alice", "vip"], handle: "https://push.example/?x=\u{e9}", format: "browser",
            expiresAt: noon + .seconds(60), document: [0, 255, 10])
        guard case .done(let stored, nil) = try await tables.put(sample) else { return #expect(Bool(false)) }
        #expect(stored.sequence > 0 && stored.version == 1)
        sample.sequence = stored.sequence
        #expect(stored == sample)
        for id in ["Aa-1", "aa-1", "AA-1"] { #expect(try await tables.registration(id, hub: "hub") == sample) }
        #expect(try await tables.registration("aa-2", hub: "hub") == nil)
        #expect(try await tables.registration("aa-1", hub: "other") == nil)
    }

    @Test(arguments: hubStores)
    func `An update counts, keeps the place, and moves the tags`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for id in ["a", "b", "c"] { try await tables.put(.sample(id, tags: ["old"])) }
        guard case .done(let now, let former?) = try await tables.put(.sample("B", tags: ["new", "Old"])) else {
            return #expect(Bool(false))
        }
        #expect((former.id, former.version, former.sequence) == ("b", 1, now.sequence))
        #expect((now.id, now.version) == ("B", 2))
        #expect(try await tables.ids([["old"]]) == ["a", "B", "c"])
        try await tables.put(.sample("a", tags: ["new"]))
        #expect(try await tables.ids([["old"]]) == ["B", "c"])
        #expect(try await tables.ids([["new"]]) == ["a", "B"])
        #expect(try await tables.ids() == ["a", "B", "c"])
        // A device that turns to templates leaves the audience of its platform.
        try await tables.put(.sample("a", tags: ["new"], isTemplate: true))
        #expect(try await tables.ids() == ["B", "c"])
        let templates = try await tables.targets(hub: "hub", of: HubAudience(formats: ["template"]), now: noon)
        #expect(templates.registrations.map(\.id) == ["a"])
    }

    @Test(arguments: hubStores)
    func `The key of a device is kept by updates`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for id in ["a", "b"] { try await tables.put(.sample(id)) }
        let handle = try #require(try await tables.registration("a", hub: "hub")).handle
        try await tables.remember([
            HubPushKey(hub: "hub", handle: handle, key: "0a0b0c0d"),
            HubPushKey(hub: "other", handle: handle, key: "ffffffff"),
            HubPushKey(hub: "hub", handle: "nobody", key: "ffffffff"),
        ])
        try await tables.put(.sample("a", tags: ["t"]))
        let found = try #require(try await tables.registration("a", hub: "hub"))
        #expect((found.pushKey, found.version) == ("0a0b0c0d", 2))
        try await tables.remember([HubPushKey(hub: "hub", handle: handle, key: nil)])
        #expect(try await tables.registration("a", hub: "hub")?.pushKey == nil)
    }

    @Test(arguments: hubStores)
    func `Conditions are met or nothing changes`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for condition in [HubCondition.any, .version(1), .never] {
            #expect(try await tables.put(.sample("a"), condition) == .unknown)
        }
        try await tables.put(.sample("a"))
        for condition in [HubCondition.version(2), .never] {
            #expect(try await tables.put(.sample("a", tags: ["t"]), condition) == .conflict)
            #expect(try await tables.removeRegistration("a", hub: "hub", condition: condition) == .conflict)
        }
        #expect(try await tables.ids([["t"]]).isEmpty)
        for condition in [HubCondition.version(1), .any, .none] {
            guard case .done = try await tables.put(.sample("a"), condition) else { return #expect(Bool(false)) }
        }
        #expect(try await tables.registration("a", hub: "hub")?.version == 4)
    }

    @Test(arguments: hubStores)
    func `A deleted ID is not taken again, until it is forgotten`(_ kind: StoreKind) async throws {
        var tables = try await kind.openHub()
        tables.maxRetiredIDs = 2
        for id in ["a", "b", "c"] {
            try await tables.put(.sample(id, tags: ["t"]))
            guard
                case .done(_, let former?) = try await tables.removeRegistration(
                    id.uppercased(), hub: "hub", condition: .any)
            else { return #expect(Bool(false)) }
            #expect(former.id == id)
            #expect(try await tables.removeRegistration(id, hub: "hub", condition: .any) == .unknown)
            #expect(try await tables.put(.sample(id)) == .retired)
            #expect(try await tables.put(.sample(id), .any) == .unknown)
        }
        #expect(try await tables.ids([["t"]]).isEmpty)
        #expect(try await tables.put(.sample("b")) == .retired)
        // The oldest of three is forgotten, and another hub knows of none.
        guard case .done = try await tables.put(.sample("a")), case .done = try await tables.put(.sample("c"), hub: "b")
        else { return #expect(Bool(false)) }
    }

    @Test(arguments: hubStores)
    func `Those who create one ID at once make one registration`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let versions = try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    guard
                        case .done(let stored, _) = try await tables.put(
                            .sample("a", tags: ["t\(number % 3)"]))
                    else { return Int64(0) }
                    return stored.version
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(versions.sorted() == (1...20).map { Int64($0) })
        var found = 0
        for number in 0..<3 { found += try await tables.ids([["t\(number)"]]).count }
        #expect(found == 1)
        #expect(try await tables.ids() == ["a"])
    }

    @Test(arguments: hubStores)
    func `Handles are found as they are, in one hub`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let long = String(repeating: "h", count: 4096)
        try await tables.put(.sample("a", handle: long))
        try await tables.put(.sample("b", handle: "x"))
        try await tables.put(.sample("c", handle: "x"))
        try await tables.put(.sample("d", handle: "x"), hub: "other")
        #expect(try await tables.registrations(handles: ["x", long], hub: "hub").map(\.id) == ["a", "b", "c"])
        #expect(try await tables.registrations(handles: ["X", ""], hub: "hub").isEmpty)
        #expect(try await tables.registrations(handles: [], hub: "hub").isEmpty)
    }

    @Test(arguments: hubStores)
    func `A dead handle's registrations go unless they were written later`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.put(.sample("a", tags: ["t"], handle: "x"))
        try await tables.put(.sample("b", tags: ["t"], handle: "x", updatedAt: noon + .seconds(2)))
        try await tables.put(.sample("c", tags: ["t"], handle: "X"))
        try await tables.put(.sample("a", tags: ["t"], handle: "x"), hub: "other")
        let time = noon + .seconds(1)
        let none = try await tables.remove(handle: "x", hub: "hub", ifUpdatedBefore: noon)
        #expect(none.isEmpty)
        let removed = try await tables.remove(handle: "x", hub: "hub", ifUpdatedBefore: time)
        #expect(removed.map(\.id) == ["a"])
        #expect(try await tables.ids([["t"]]) == ["b", "c"])
        #expect(try await tables.ids([["t"]], hub: "other") == ["a"])
        // Its ID may be used again: the device may come back.
        guard case .done = try await tables.put(.sample("a")) else { return #expect(Bool(false)) }
    }
}
