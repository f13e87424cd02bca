import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct HubInstallationTests {
    private struct Refusal: Error {}

    @Test(arguments: hubStores)
    func `Registrations keep IDs and places as long as their slots stay`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let first = try await tables.install("I1", ["", "a", "b"])
        #expect(first.former.isEmpty && first.removed.isEmpty)
        #expect(first.stored.allSatisfy { $0.installationID == "i1" && $0.version == 1 })
        let second = try await tables.install("i1", ["", "b", "c"], handle: "K")
        #expect(second.former.map(\.id) == first.stored.map(\.id))
        #expect(second.removed.map(\.slot) == ["a"])
        #expect(second.stored[0].id == first.stored[0].id && second.stored[1].id == first.stored[2].id)
        #expect(second.stored.map(\.version) == [2, 2, 1])
        #expect(try await tables.ids([["all"]]).sorted() == second.stored.map(\.id).sorted())
        #expect(try await tables.registrations(handles: ["H"], hub: "hub").isEmpty)
        let row = try await tables.installation("I1", hub: "hub", now: noon)
        #expect(row == HubInstallationRow(document: Array("i1".utf8), updatedAt: noon, expiresAt: nil))
        #expect(try await tables.installation("i1", hub: "other", now: noon) == nil)
    }

    @Test(arguments: hubStores)
    func `A change sees the installation, and one that throws changes nothing`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.install("i1", [""])
        let row = try await tables.installation("i1", hub: "hub", now: noon)
        let (_, seen) = try await tables.changeInstallation("I1", hub: "hub", now: noon) { found in
            (HubInstallationRow(document: [1], updatedAt: noon, expiresAt: nil), [.part("")], found)
        }
        #expect(seen == row)
        await #expect(throws: Refusal.self) {
            _ = try await tables.changeInstallation("i1", hub: "hub", now: noon) {
                found -> (HubInstallationRow, [HubRegistrationRow], Void) in
                #expect(found?.document == [1])
                throw Refusal()
            }
        }
        #expect(try await tables.installation("i1", hub: "hub", now: noon)?.document == [1])
    }

    @Test(arguments: hubStores)
    func `Removing one removes its registrations`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let change = try await tables.install("i1", ["", "a"])
        try await tables.install("i2", [""])
        let (row, removed) = try #require(try await tables.removeInstallation("I1", hub: "hub"))
        #expect(row.document == Array("i1".utf8))
        #expect(removed.former.map(\.id) == change.stored.map(\.id) && removed.stored.isEmpty)
        #expect(try await tables.ids([["all"]]).count == 1)
        #expect(try await tables.removeInstallation("i1", hub: "hub") == nil)
        // Its registrations' IDs are the hub's own, so they are not noted as deleted.
        guard case .done = try await tables.put(.sample(change.stored[0].id)) else { return #expect(Bool(false)) }
    }

    @Test(arguments: hubStores)
    func `An expired one is gone at once, and removed later`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for number in 1...3 { try await tables.install("i\(number)", [""], expiresAt: noon + .seconds(number)) }
        try await tables.install("i4", [""])
        let now = noon + .milliseconds(2500)
        #expect(try await tables.installation("i2", hub: "hub", now: now) == nil)
        #expect(try await tables.installation("i3", hub: "hub", now: now) != nil)
        #expect(try await tables.removeExpired(limit: 1, now: now) == 1)
        #expect(try await tables.removeExpired(limit: 9, now: now) == 1)
        #expect(try await tables.removeExpired(limit: 9, now: now) == 0)
        #expect(try await tables.ids([["all"]]).count == 2)
    }

    @Test(arguments: hubStores)
    func `A dead channel takes its installation with it`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.install("i1", ["", "a"])
        try await tables.install("i2", [""], updatedAt: noon + .seconds(5))
        // A part with the dead channel does not end an installation of another channel.
        _ = try await tables.changeInstallation("i3", hub: "hub", now: noon) { _ in
            (
                HubInstallationRow(document: [], updatedAt: noon, expiresAt: nil),
                [.part("", handle: "K"), .part("tile", handle: "H")], ()
            )
        }
        let removed = try await tables.remove(handle: "H", hub: "hub", ifUpdatedBefore: noon + .seconds(1))
        #expect(removed.map { "\($0.installationID ?? "") \($0.slot ?? "")" }.sorted() == ["i1 ", "i1 a", "i3 tile"])
        #expect(try await tables.installation("i1", hub: "hub", now: noon) == nil)
        #expect(try await tables.installation("i2", hub: "hub", now: noon) != nil)
        #expect(try await tables.installation("i3", hub: "hub", now: noon) != nil)
        #expect(try await tables.registrations(handles: ["H"], hub: "hub").map(\.installationID) == ["i2"])
    }

    @Test(arguments: hubStores)
    func `Concurrent changes of one installation leave one set of registrations`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<12 {
                group.addTask { try await tables.install("i1", ["", "s\(number % 3)"], handle: "h\(number)") }
                group.addTask {
                    _ = try await tables.remove(
                        handle: "h\(number)", hub: "hub", ifUpdatedBefore: noon + .seconds(1))
                }
            }
        }
        let change = try await tables.install("i1", ["", "z"])
        #expect(try await tables.ids([["all"]]).sorted() == change.stored.map(\.id).sorted())
    }
}
