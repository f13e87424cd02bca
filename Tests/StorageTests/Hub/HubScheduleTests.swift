import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct HubScheduleTests {
    private func schedule(_ id: String, _ seconds: Int, place: Int64 = 0) -> HubSchedule {
        HubSchedule(id: id, hub: "hub", dueAt: noon + .seconds(seconds), request: Array(id.utf8), place: place)
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
        let first = try await tables.leaseDueSchedules(limit: 2, claim: 1, now: now)
        #expect(first == [schedule("a", 1), schedule("b", 2)])
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 1, now: now) == [schedule("c", 3)])
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 1, now: now).isEmpty)
        #expect(try await tables.removeSchedule("a", hub: "hub"))
        let later = now + HubTables.scheduleLease
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 1, now: later).map(\.id).sorted() == ["b", "c"])
        #expect(try await tables.scheduleCount() == 3)
    }

    @Test(arguments: hubStores)
    func `A cancelled one is gone, and only its hub cancels it`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.add(schedule("a", 1))
        #expect(try await !tables.removeSchedule("a", hub: "other"))
        #expect(try await tables.removeSchedule("a", hub: "hub"))
        #expect(try await !tables.removeSchedule("a", hub: "hub"))
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 1, now: noon + .seconds(9)).isEmpty)
    }

    @Test(arguments: hubStores)
    func `Several who ask at once share the due ones`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for number in 0..<30 { try await tables.add(schedule("\(number)", 0)) }
        let ids = try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { try await tables.leaseDueSchedules(limit: 5, claim: 1, now: noon).map(\.id) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(ids).count == ids.count)
        let rest = try await tables.leaseDueSchedules(limit: 99, claim: 1, now: noon).map(\.id)
        #expect(Set(ids + rest).count == 30 && ids.count + rest.count == 30)
    }

    @Test(arguments: hubStores)
    func `A lease is extended by its claim alone, and the next one begins at the place`(_ kind: StoreKind) async throws
    {
        let tables = try await kind.openHub()
        try await tables.add(schedule("a", 0))
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 1, now: noon).map(\.place) == [0])
        let end = noon + .seconds(100)
        #expect(try await tables.extendSchedule("a", claim: 1, place: 500, until: end))
        #expect(try await !tables.extendSchedule("a", claim: 2, place: 900, until: end))
        #expect(try await !tables.extendSchedule("b", claim: 1, place: 900, until: end))
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 2, now: noon + .seconds(99)).isEmpty)
        let next = try await tables.leaseDueSchedules(limit: 9, claim: 2, now: end)
        #expect(next == [schedule("a", 100, place: 500)])
        // The former process has lost it.
        #expect(try await !tables.extendSchedule("a", claim: 1, place: 1000, until: end))
        try await tables.makeScheduleDue("a", claim: 1, at: noon)
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 3, now: end).isEmpty)
        try await tables.makeScheduleDue("a", claim: 2, at: end)
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 3, now: end) == [schedule("a", 100, place: 500)])
    }

    @Test(arguments: hubStores)
    func `One that is set aside is never due, and is purged later`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.add(schedule("a", 0))
        #expect(try await !tables.setAsideSchedule("a", claim: 1, now: noon))
        _ = try await tables.leaseDueSchedules(limit: 9, claim: 1, now: noon)
        #expect(try await tables.setAsideSchedule("a", claim: 1, now: noon))
        #expect(try await tables.nextSchedule() == nil)
        #expect(try await tables.leaseDueSchedules(limit: 9, claim: 1, now: noon + .seconds(1000)).isEmpty)
        #expect(try await !tables.extendSchedule("a", claim: 1, place: 1, until: noon))
        #expect(try await !tables.purgeDeliveries(now: noon, feedbackBefore: noon))
        #expect(try await tables.scheduleCount() == 1)
        #expect(try await !tables.purgeDeliveries(now: noon, feedbackBefore: noon + .milliseconds(1)))
        #expect(try await tables.scheduleCount() == 0)
    }
}
