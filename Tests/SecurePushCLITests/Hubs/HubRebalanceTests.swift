import Domain
import Foundations
import Synchronization
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct HubRebalanceTests {
    private let store = memoryStore()
    private let hubs = ["hub-a": FakeHub(), "hub-b": FakeHub(), "hub-c": FakeHub()]
    private static let two = ["hub-a", "hub-b"]
    private static let three = ["hub-a", "hub-b", "hub-c"]

    private func user(_ number: Int) throws -> UserName { try #require(UserName("user-\(number)")) }

    private func table(_ names: [String]) -> HubTable<any DevicePlacer.Hub> {
        HubTable(names.compactMap { name in hubs[name].map { .init(label: name, client: $0) } })
    }

    private func rebalance(
        _ names: [String], _ plan: HubRebalance.Plan = .init(rate: 10_000), stop: StopRequest = StopRequest(),
        progress: @escaping @Sendable (RebalanceReport) -> Void = { _ in }
    ) async throws -> RebalanceReport {
        let run = HubRebalance(store: store, table: table(names), plan: plan, stop: stop, pause: { _ in })
        return try await run.run(progress: progress)
    }

    /// An installation and a registration of each of `count` users, at the hubs of the names.
    private func fill(_ count: Int, _ names: [String]) async throws {
        for number in 0..<count {
            let owner = try user(number)
            try await store.save(
                Installation(
                    id: "i\(number)", owner: owner, platform: .apple, handle: "secret-\(number)",
                    document: Array("{\"n\":\(number)}".utf8), updatedAt: .now))
            try await store.save(
                Registration(
                    id: "r\(number)", owner: owner, platform: .wns, handle: "secret-\(number)", tags: [owner.tag],
                    updatedAt: .now))
        }
        // An ID whose device has not registered yet.
        let owner = try user(0)
        try await store.save(Registration(id: "incomplete", owner: owner, updatedAt: .now))
        let report = try await rebalance(names)
        #expect(report.failed == 0)
        for hub in hubs.values { hub.requests.withLock { $0 = [] } }
    }

    /// Expects each device of the users at the hub of its user, and at no other.
    private func expectInPlace(_ count: Int, _ names: [String]) throws {
        let selection = HubSelection(names)
        for number in 0..<count {
            let hub = selection.name(for: try user(number))
            for id in ["i\(number)", "r\(number)"] {
                #expect(hubs.filter { $0.value.holds(id) }.map(\.key) == [hub])
            }
        }
    }

    /// The number of a user who moves when hub-c comes.
    private func mover(_ count: Int) throws -> Int {
        let (two, three) = (HubSelection(Self.two), HubSelection(Self.three))
        return try #require(
            try (0..<count).first { number in
                let user = try user(number)
                return two.name(for: user) != three.name(for: user)
            })
    }

    private var requests: Int { hubs.values.reduce(0) { $0 + $1.requests.withLock { $0.count } } }

    @Test func `A third hub takes only its share, and a second run does nothing`() async throws {
        try await fill(60, Self.two)
        try expectInPlace(60, Self.two)
        let (two, three) = (HubSelection(Self.two), HubSelection(Self.three))
        let moving = try (0..<60).filter { number in
            let user = try user(number)
            return two.name(for: user) != three.name(for: user)
        }
        #expect((10...30).contains(moving.count))
        let dry = try await rebalance(Self.three, .init(isDryRun: true))
        #expect(dry.toPut == moving.count * 2 && dry.devices == 120 && requests == 0)
        let report = try await rebalance(Self.three)
        #expect(report.put == moving.count * 2 && report.settled == moving.count * 2 && report.failed == 0)
        #expect(report.steps == (moving.count * 4, moving.count * 4))
        try expectInPlace(60, Self.three)
        // One put and one deletion per device that moves.
        #expect(requests == moving.count * 4)
        let second = try await rebalance(Self.three)
        #expect(second.put == 0 && second.settled == 0 && requests == moving.count * 4)
    }

    @Test func `Copies leave the devices where they are until the services have the new file`() async throws {
        try await fill(40, Self.two)
        let copied = try await rebalance(Self.three, .init(copyOnly: true, rate: 10_000))
        #expect(copied.put > 0 && copied.settled == 0)
        let (two, three) = (HubSelection(Self.two), HubSelection(Self.three))
        for number in 0..<40 {
            let user = try user(number)
            #expect(hubs[two.name(for: user)]?.holds("i\(number)") == true)
            #expect(hubs[three.name(for: user)]?.holds("i\(number)") == true)
        }
        let again = try await rebalance(Self.three, .init(copyOnly: true, rate: 10_000))
        #expect(again.put == 0)
        // A device that changed meanwhile is put once more.
        let mover = try mover(40)
        var changed = try #require(try await store.installation("i\(mover)"))
        changed.document = Array("{\"new\":true}".utf8)
        try await store.save(changed)
        // One that was removed meanwhile is deleted at the hub that it was copied to.
        try await store.removeRegistration("r\(mover)")
        for (name, hub) in hubs where name != "hub-c" { hub.remove("r\(mover)") }
        let report = try await rebalance(Self.three)
        #expect(report.put == 1 && report.removed == 1 && report.failed == 0)
        #expect(hubs["hub-c"]?.content("i\(mover)") == "{\"new\":true}")
        #expect(hubs.values.allSatisfy { !$0.holds("r\(mover)") })
        #expect(try await store.placesWithoutDevice(of: .registration, after: nil, limit: 9).isEmpty)
    }

    @Test func `An interrupted run ends after the devices in flight, and resumes`() async throws {
        try await fill(60, Self.two)
        let stop = StopRequest()
        let first = try await rebalance(Self.three, stop: stop) { report in
            if report.put == 5 { stop.request() }
        }
        #expect(first.isInterrupted && first.put >= 5 && first.put < first.toPut)
        #expect(first.summary.contains("run it again"))
        // No device is left with a lease.
        #expect(try await store.expiredLeases(limit: 9, now: .now + .seconds(99)).isEmpty)
        let second = try await rebalance(Self.three)
        #expect(second.toPut == first.toPut - first.put && !second.isInterrupted)
        try expectInPlace(60, Self.three)
    }

    @Test func `A hub that leaves the file gives its users to the others`() async throws {
        try await fill(40, Self.three)
        let report = try await rebalance(Self.two)
        #expect(report.put > 0 && report.failed == 0)
        let selection = HubSelection(Self.two)
        for number in 0..<40 {
            let hub = selection.name(for: try user(number))
            #expect(hubs[hub]?.holds("i\(number)") == true)
        }
        // The hub cannot be asked, so its devices stay there and on record, and are not looked at again.
        #expect(try await rebalance(Self.two).toSettle == 0)
        var shares = HubShares(HubTable(Self.two.map { HubTable<Void>.Member(label: $0, client: ()) }))
        for try await page in StoredDevices(store: store) {
            for (device, places) in try await store.placed(page) { shares.count(device, places) }
        }
        #expect(shares.rows.map(\.hub) == Self.three && shares.rows[2].endpoint == nil && shares.rows[2].atHub > 0)
        var table = Table(HubShares.columns)
        #expect(table.lines(shares.rows).last?.hasPrefix("hub-c (not in the file)") == true)
        #expect(shares.rows.map(\.users).reduce(0, +) == 40 && shares.rows.map(\.toMove) == [0, 0, 0])
        #expect(shares.rows.map(\.devices).reduce(0, +) == 80)
    }

    @Test func `What a hub refuses is listed, and a device in use is left`() async throws {
        try await fill(10, ["hub-a"])
        hubs["hub-b"]?.refuse { id in
            id.hasPrefix("r") ? PushGatewayError(.rejected, "HTTP 400: The handle secret is not one") : nil
        }
        let selection = HubSelection(Self.two)
        let mover = try #require(
            try (0..<10).first { selection.name(for: try user($0)) == "hub-b" })
        let outcome = try await store.lease(.installation, "i\(mover)", if: .any, now: .now)
        let report = try await rebalance(Self.two)
        let failures = report.failures.listed
        #expect(failures.contains { $0.id == "r\(mover)" && $0.reason == "the hub refuses it (HTTP 400)" })
        #expect(failures.contains { $0.id == "i\(mover)" && $0.reason == "the services are changing it" })
        // Still where it was.
        #expect(hubs["hub-a"]?.holds("r\(mover)") == true && hubs["hub-a"]?.holds("i\(mover)") == true)
        guard case .leased(let lease) = outcome else { return #expect(Bool(false)) }
        _ = try await store.end(lease, .keep, now: .now)
        hubs["hub-b"]?.refuse { _ in nil }
        #expect(try await rebalance(Self.two).failed == 0)
        try expectInPlace(10, Self.two)
    }

    @Test func `A hub that does not answer ends the run`() async throws {
        try await fill(10, ["hub-a"])
        hubs["hub-b"]?.refuse { _ in PushGatewayError(.unavailable, "no answer: secret") }
        let failure = await #expect(throws: CommandFailure.self) { try await rebalance(Self.two) }
        #expect(failure?.code == .unreachable && failure?.message.contains("secret") == false)
        hubs["hub-b"]?.refuse { _ in PushGatewayError(.unauthorized, "HTTP 401") }
        // No lease is left: the places tell what is unknown.
        #expect(try await store.expiredLeases(limit: 9, now: .now + .seconds(60)).isEmpty)
        let refused = await #expect(throws: CommandFailure.self) { try await rebalance(Self.two) }
        #expect(refused?.code == .configuration)
    }

    @Test func `A change that the services have not finished is finished`() async throws {
        try await fill(10, ["hub-a"])
        let selection = HubSelection(Self.two)
        let mover = try #require(try (0..<10).first { selection.name(for: try user($0)) == "hub-b" })
        guard case .leased(let lease) = try await store.lease(.installation, "i\(mover)", if: .any, now: .now) else {
            return #expect(Bool(false))
        }
        try await store.expire(lease, now: .now)
        let copied = try await rebalance(Self.two, .init(copyOnly: true, rate: 10_000))
        #expect(copied.failures.listed.map(\.reason) == ["the services are changing it"])
        #expect(try await rebalance(Self.two).failed == 0)
        #expect(try await store.expiredLeases(limit: 9, now: .now + .seconds(60)).isEmpty)
        try expectInPlace(10, Self.two)
    }

    @Test func `Progress has a line for each 10 %`() {
        var report = RebalanceReport()
        (report.toPut, report.toSettle) = (50, 50)
        var milestone = Milestone()
        #expect(RebalanceProgress.text(report, &milestone) == nil)
        report.put = 10
        #expect(RebalanceProgress.text(report, &milestone) == "10%  step 10 of 100: put 10, settled 0")
        #expect(RebalanceProgress.text(report, &milestone) == nil)
        (report.put, report.settled) = (50, 49)
        report.failures.add(DeviceReference(kind: .installation, id: "i"), "x")
        #expect(
            RebalanceProgress.text(report, &milestone) == "100%  step 100 of 100: put 50, settled 49, 1 failed")
    }
}

extension HubRebalanceTests {
    private func isNowhere(_ id: String) -> Bool { hubs.values.allSatisfy { !$0.holds(id) } }

    @Test func `Copies of devices that were removed are deleted before the services have the new file`() async throws {
        try await fill(40, Self.two)
        let copyOnly = HubRebalance.Plan(copyOnly: true, rate: 10_000)
        _ = try await rebalance(Self.three, copyOnly)
        // Retrieval with the old file does not know hub-c.
        let id = "i\(try mover(40))"
        try await store.withLease(of: DeviceReference(kind: .installation, id: id)) { _, lease in
            let two = table(Self.two)
            try await DevicePlacer(.pool { two }, places: store).delete(lease)
        }
        try await store.removeInstallation(id)
        #expect(hubs["hub-c"]?.holds(id) == true)
        let report = try await rebalance(Self.three, copyOnly)
        #expect(report.put == 0 && report.removed == 1 && report.failed == 0)
        #expect(report.summary.contains("; deleted 1 that the database does not have any more; 0 failed"))
        #expect(isNowhere(id))
        #expect(try await store.placesWithoutDevice(of: .installation, after: nil, limit: 9).isEmpty)
    }

    @Test func `Removed devices are deleted first, and a hub that fails there delays nothing else`() async throws {
        try await fill(40, Self.two)
        for id in ["gone-1", "gone-2"] {
            try await hubs["hub-a"]?.putInstallation(id, document: [])
            try await store.withLease(of: DeviceReference(kind: .installation, id: id)) { _, lease in
                let isSet = try await store.setPlaces([DevicePlace(hub: "hub-a", content: 1)], of: lease)
                #expect(isSet)
            }
        }
        hubs["hub-a"]?.refuse { $0 == "gone-2" ? PushGatewayError(.unavailable, "down") : nil }
        let reports = Mutex<[RebalanceReport]>([])
        let report = try await rebalance(Self.three) { report in reports.withLock { $0.append(report) } }
        let firstPut = reports.withLock { reports in reports.first { $0.put > 0 } }
        #expect(firstPut?.removed == 1 && firstPut?.failed == 1)
        #expect(report.put > 0 && report.put == report.settled && report.removed == 1)
        #expect(report.failures.listed.map(\.id) == ["gone-2"] && isNowhere("gone-1"))
        #expect(report.failures.listed.first?.reason == "it could not be removed at hub-a")
        #expect(hubs["hub-a"]?.requests.withLock { $0.count { $0 == "gone-2" } } == 2)
        hubs["hub-a"]?.refuse { _ in nil }
        #expect(try await rebalance(Self.three).removed == 1)
        #expect(isNowhere("gone-2"))
    }

    /// A device that registers while the services have the new file leaves its old hub.
    @Test func `The way back begins with copies by the old file`() async throws {
        try await fill(40, Self.two)
        _ = try await rebalance(Self.three, .init(copyOnly: true, rate: 10_000))
        let reference = DeviceReference(kind: .installation, id: "i\(try mover(40))")
        try await store.withLease(of: reference) { device, lease in
            let (known, three) = (try #require(device), table(Self.three))
            #expect(try await DevicePlacer(.pool { three }, places: store).put(known, lease))
        }
        #expect(hubs.filter { $0.value.holds(reference.id) }.map(\.key) == ["hub-c"])
        #expect(try await rebalance(Self.two, .init(copyOnly: true, rate: 10_000)).put == 1)
        let selection = HubSelection(Self.two)
        func expectAtOldHubs() throws {
            for number in 0..<40 {
                let hub = selection.name(for: try user(number))
                #expect(hubs[hub]?.holds("i\(number)") == true && hubs[hub]?.holds("r\(number)") == true)
            }
        }
        try expectAtOldHubs()
        let last = try await rebalance(Self.two)
        #expect(last.put == 0 && last.failed == 0)
        try expectAtOldHubs()
    }
}
