import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct HubScheduleTests {
    private func schedule(_ id: String, _ seconds: Int) -> HubSchedule {
        HubSchedule(id: id, hub: "hub", dueAt: noon + .seconds(seconds), request: Array(id.utf8))
    }

    @Test(arguments: hubStores)
    func `The due ones come in their order, to one caller, and again after the lease`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        #expect(try await tables.nextSchedule() == nil)
        for (id, seconds) in [("b", 2), ("a", 1), ("c", 3), ("z", 100)] {
            try await tables.add(schedule(id, seconds))
        }
        #expect(try await tables.nextSchedule() == noon + .seconds(1))
        let now = noon + .seconds(3)
        #expect(try await tables.leaseDueSchedules(limit: 2, now: now) == [schedule("a", 1), schedule("b", 2)])
        #expect(try await tables.leaseDueSchedules(limit: 9, now: now) == [schedule("c", 3)])
        #expect(try await tables.leaseDueSchedules(limit: 9, now: now).isEmpty)
        #expect(try await tables.removeSchedule("a", hub: "hub"))
        let later = now + HubTables.scheduleLease
        #expect(try await tables.leaseDueSchedules(limit: 9, now: later).map(\.id).sorted() == ["b", "c"])
        #expect(try await tables.scheduleCount() == 3)
    }

    @Test(arguments: hubStores)
    func `A cancelled one is gone, and only its hub cancels it`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.add(schedule("a", 1))
        #expect(try await !tables.removeSchedule("a", hub: "other"))
        #expect(try await tables.removeSchedule("a", hub: "hub"))
        #expect(try await !tables.removeSchedule("a", hub: "hub"))
        #expect(try await tables.leaseDueSchedules(limit: 9, now: noon + .seconds(9)).isEmpty)
    }

    @Test(arguments: hubStores)
    func `Several who ask at once share the due ones`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for number in 0..<30 { try await tables.add(schedule("\(number)", 0)) }
        let ids = try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { try await tables.leaseDueSchedules(limit: 5, now: noon).map(\.id) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(ids).count == ids.count)
        let rest = try await tables.leaseDueSchedules(limit: 99, now: noon).map(\.id)
        #expect(Set(ids + rest).count == 30 && ids.count + rest.count == 30)
    }
}
