import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct HubTargetTests {
    @Test(arguments: hubStores)
    func `Lists keep the order through updates and deletions`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for number in 0..<60 { try await tables.put(.sample("\(number)")) }
        for number in 0..<60 where !number.isMultiple(of: 10) {
            _ = try await tables.removeRegistration("\(number)", hub: "hub", condition: .any)
        }
        try await tables.put(.sample("20"))
        let all = stride(from: 0, to: 60, by: 10).map(String.init)
        #expect(try await tables.ids() == all)
        for limit in 1...7 { #expect(try await tables.ids(limit: limit) == all, "\(limit)") }
        let place = try #require(try await tables.registration("30", hub: "hub")).sequence
        let page = try await tables.targets(
            hub: "hub", of: HubAudience(formats: ["apple", "gcm"]), after: place, limit: 1, now: noon)
        #expect(page.registrations.map(\.id) == ["40"])
        #expect(page.next == page.registrations.last?.sequence)
        for after in [Int64.max, .min] {
            let page = try await tables.targets(
                hub: "hub", of: HubAudience(formats: ["apple"]), after: after, now: noon)
            #expect(page.registrations.count == (after == .max ? 0 : 6) && page.next == nil)
        }
    }

    @Test(arguments: hubStores)
    func `Pages of several tags have each registration once`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for number in 0..<30 {
            let tags = ["a", "b", "c"].enumerated().filter { number % (2 + $0.offset) == 0 }.map(\.element)
            try await tables.put(.sample("\(number)", tags: tags))
        }
        let expected = (0..<30).filter { $0 % 2 == 0 || $0 % 4 == 0 || $0 % 3 == 0 }.map(String.init)
        for limit in [1, 3, 7, 500] {
            #expect(try await tables.ids([["a", "b", "c"]], limit: limit) == expected, "\(limit)")
        }
        let both = HubAudience(formats: ["apple"], tagSets: [["a"], ["b"]]) { $0.isSuperset(of: ["a", "b"]) }
        let page = try await tables.targets(hub: "hub", of: both, now: noon)
        #expect(page.registrations.map(\.id) == ["0", "6", "12", "18", "24"])
        let without = HubAudience(formats: ["apple"]) { !$0.contains("a") }
        let others = try await tables.targets(hub: "hub", of: without, now: noon)
        #expect(others.registrations.map(\.id) == (0..<30).filter { $0 % 2 != 0 }.map(String.init))
    }

    @Test(arguments: hubStores)
    func `More than a page are all found`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let count = HubTables.pageSize + 2
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<count { group.addTask { _ = try await tables.put(.sample("\(number)", tags: ["t"])) } }
        }
        let first = try await tables.targets(
            hub: "hub", of: HubAudience(formats: ["apple"], tagSets: [["t"]]), now: noon)
        #expect(first.registrations.count == HubTables.pageSize && first.next != nil)
        let ids = try await tables.ids([["t"]])
        #expect(ids.count == count && Set(ids).count == count)
    }

    @Test(arguments: hubStores)
    func `Each of many concurrent sends gets its own devices`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for number in 0..<40 {
            try await tables.put(.sample("\(number)", tags: ["user:\(number)"]), hub: number < 20 ? "one" : "two")
        }
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    let user = number % 44
                    let found = try await tables.ids([["user:\(user)"]], hub: number.isMultiple(of: 2) ? "one" : "two")
                    let isThere = number.isMultiple(of: 2) ? user < 20 : (20..<40).contains(user)
                    #expect(found == (isThere ? ["\(user)"] : []))
                }
            }
        }
    }

    @Test(arguments: hubStores)
    func `What has expired is not met`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.put(.sample("old", tags: ["t"], expiresAt: noon + .milliseconds(-1)))
        try await tables.put(.sample("now", tags: ["t"], expiresAt: noon))
        try await tables.put(.sample("later", tags: ["t"], expiresAt: noon + .seconds(1)))
        #expect(try await tables.ids([["t"]]) == ["now", "later"])
        // It counts for the page, so the next page is not lost.
        #expect(try await tables.ids([["t"]], limit: 1) == ["now", "later"])
    }

    @Test(arguments: hubStores)
    func `Devices are counted by platform and age`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for (id, format, days) in [
            ("a", "apple", 0), ("b", "apple", 1), ("c", "apple", 6), ("d", "browser", 29), ("e", "browser", 1000),
        ] {
            try await tables.put(.sample(id, format: format, updatedAt: noon - .seconds(days * 86_400)))
        }
        try await tables.put(.sample("f", isTemplate: true))
        try await tables.put(.sample("g"), hub: "other")
        let counts = try await tables.deviceCounts(hub: "hub", now: noon)
        #expect(
            counts.map { "\($0.format) \($0.days ?? 0) \($0.count)" } == [
                "apple 1 1", "apple 7 2", "browser 30 1", "browser 0 1",
            ])
    }
}
