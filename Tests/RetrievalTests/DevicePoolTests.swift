import Domain
import Foundations
import ServiceLifecycle
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import Retrieval

/// Devices in a system with several hubs (`HUB_POOL_FILE`). alice's hub is hub-b, and hub-c once there is one; bob's is
/// hub-a.
@Suite struct DevicePoolTests {
    private let store = memoryStore()
    private let hubs = ["hub-a": FakeHub(), "hub-b": FakeHub(), "hub-c": FakeHub()]

    private func table(_ names: [String]) -> HubTable<any DevicePlacer.Hub> {
        HubTable(names.compactMap { name in hubs[name].map { .init(label: name, client: $0) } })
    }

    private func changes(_ names: String...) -> DeviceChanges {
        let table = table(names)
        return DeviceChanges(hubs: .pool { table }, store: store)
    }

    private func installation(
        _ id: String, _ owner: String = "alice", handle: String = "h1"
    ) throws -> Installation {
        let document = #"{"installationId":"\#(id)","pushChannel":"\#(handle)"}"#
        return Installation(
            id: id, owner: try #require(UserName(owner)), platform: .apple, handle: handle,
            document: Array(document.utf8), updatedAt: .now)
    }

    private func install(_ installation: Installation, _ changes: DeviceChanges) async throws {
        let handles = [installation.handle]
        let isDone = try await changes.register(
            .installation, installation.id, handle: installation.handle,
            if: .claimed(by: installation, handles: handles)
        ) { _ in .saveInstallation(installation, handles: handles) }
        #expect(isDone)
    }

    private func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition
    ) async throws -> DeviceLease {
        let result = try await store.lease(kind, id, if: condition, now: .now)
        guard case .leased(let lease) = result else { throw NotLeased() }
        return lease
    }

    private struct NotLeased: Error {}

    /// The hubs that have an installation.
    private func holders(_ id: String) -> [String] {
        hubs.filter { $0.value.installations[id] != nil }.keys.sorted()
    }

    private func places(_ id: String, _ kind: DeviceLease.Kind = .installation) async throws -> [String] {
        try await store.places(of: kind, [id])[id]?.map(\.hub) ?? []
    }

    @Test func `A device registers at its user's hub`() async throws {
        let changes = changes("hub-a", "hub-b")
        try await install(try installation("i1"), changes)
        try await install(try installation("i2", "bob", handle: "h2"), changes)
        #expect(holders("i1") == ["hub-b"] && holders("i2") == ["hub-a"])
        let fingerprint = StoredDevice.installation(try installation("i1")).fingerprint
        let place = DevicePlace(hub: "hub-b", content: fingerprint)
        #expect(try await store.places(of: .installation, ["i1"])["i1"] == [place])
        // The other hub was never asked.
        #expect(hubs["hub-a"]?.ids == ["i2"] && hubs["hub-b"]?.ids == ["i1"])
        #expect(try await changes.remove(.installation, "i1", if: .any))
        #expect(holders("i1").isEmpty)
        #expect(try await places("i1").isEmpty)
        #expect(hubs["hub-a"]?.ids == ["i2"])
    }

    @Test func `A device that changes hands moves to the new user's hub`() async throws {
        let changes = changes("hub-a", "hub-b")
        try await install(try installation("i1"), changes)
        try await install(try installation("i1", "bob"), changes)
        #expect(holders("i1") == ["hub-a"])
        #expect(try await places("i1") == ["hub-a"])
    }

    @Test func `A device is removed at the hub where it was`() async throws {
        try await install(try installation("i1"), changes("hub-a", "hub-b"))
        // alice's hub is hub-c now, and the device registers again.
        try await install(try installation("i1", handle: "h2"), changes("hub-a", "hub-b", "hub-c"))
        #expect(holders("i1") == ["hub-c"])
        #expect(try await places("i1") == ["hub-c"])
    }

    @Test func `A hub that does not answer is remembered`() async throws {
        try await install(try installation("i1"), changes("hub-a", "hub-b"))
        hubs["hub-b"]?.failDeletions(PushGatewayError(.unavailable, "down"))
        let three = changes("hub-a", "hub-b", "hub-c")
        try await install(try installation("i1", handle: "h2"), three)
        #expect(holders("i1") == ["hub-b", "hub-c"])
        let left = try await store.places(of: .installation, ["i1"])["i1"]
        #expect(left?.map(\.hub) == ["hub-b", "hub-c"] && left?.first?.content == nil)
        // It is still removed everywhere, or not at all.
        await #expect(throws: PushGatewayError.self) { try await three.remove(.installation, "i1", if: .any) }
        #expect(try await store.installation("i1") != nil)
        hubs["hub-b"]?.failDeletions(nil)
        // The lease has expired: the hubs are brought to the state of the store.
        _ = await HubReconciler(changes: three, logger: .silent).sweep(now: .now + .seconds(60))
        #expect(holders("i1") == ["hub-c"])
        #expect(try await places("i1") == ["hub-c"])
    }

    @Test func `A hub that has left the file stays on record`() async throws {
        try await install(try installation("i1"), changes("hub-a", "hub-b"))
        let later = changes("hub-a", "hub-c")
        try await install(try installation("i1", handle: "h2"), later)
        #expect(holders("i1") == ["hub-b", "hub-c"])
        #expect(try await places("i1") == ["hub-b", "hub-c"])
        #expect(try await later.remove(.installation, "i1", if: .any))
        #expect(holders("i1") == ["hub-b"])
        #expect(try await places("i1") == ["hub-b"])
    }

    /// A device of the time before the pool may be at any hub of it.
    @Test func `A device of the single hub moves`() async throws {
        let old = try #require(hubs["hub-a"])
        let single = DeviceChanges(hubs: .single(old), store: store)
        try await install(try installation("i1"), single)
        #expect(try await places("i1").isEmpty)
        try await install(try installation("i1", handle: "h2"), changes("hub-a", "hub-b"))
        #expect(holders("i1") == ["hub-b"])
        #expect(try await places("i1") == ["hub-b"])
        // And is removed wherever it may be.
        try await install(try installation("i2", handle: "h3"), single)
        #expect(try await changes("hub-a", "hub-b").remove(.installation, "i2", if: .any))
        #expect(holders("i2").isEmpty)
    }

    @Test func `A refusal leaves no place`() async throws {
        let changes = changes("hub-a", "hub-b")
        hubs["hub-b"]?.failPuts(PushGatewayError(.rejected, "HTTP 400"))
        await #expect(throws: PushGatewayError.self) { try await install(try installation("i1"), changes) }
        #expect(try await store.installation("i1") == nil)
        #expect(try await places("i1").isEmpty)
        // An answer that is lost is something else.
        hubs["hub-b"]?.failPuts(nil)
        hubs["hub-b"]?.loseAnswers(ofPuts: 1)
        await #expect(throws: PushGatewayError.self) { try await install(try installation("i1"), changes) }
        #expect(try await store.places(of: .installation, ["i1"])["i1"] == [DevicePlace(hub: "hub-b")])
        _ = await HubReconciler(changes: changes, logger: .silent).sweep(now: .now + .seconds(60))
        #expect(try await store.places(of: .installation, ["i1"])["i1"]?.first?.content != nil)
    }

    @Test func `A registration ID comes from the user's hub`() async throws {
        let changes = changes("hub-a", "hub-b")
        let alice = try #require(UserName("alice"))
        let id = try await changes.createRegistration(owner: alice, handle: nil)
        #expect(try await places(id, .registration) == ["hub-b"])
        let registration = Registration(
            id: id, owner: alice, platform: .apns, handle: "AB", tags: [alice.tag], updatedAt: .now)
        let isDone = try await changes.register(.registration, id, handle: "AB", if: .owned(by: alice)) { _ in
            .saveRegistration(registration, handles: ["AB"])
        }
        #expect(isDone)
        #expect(hubs["hub-b"]?.devices[id]?.handle == "AB" && hubs["hub-a"]?.ids.isEmpty == true)
    }

    @Test func `A handle is searched at every hub`() async throws {
        hubs["hub-a"]?.plant("x", FakeHub.Device(platform: .apns, handle: "h1", tags: ["username:mallory"]))
        hubs["hub-b"]?.plant("old", FakeHub.Installed(handle: "h1", document: "{}"))
        let changes = changes("hub-a", "hub-b")
        try await install(try installation("i1"), changes)
        _ = await NewHandleSearch(changes: changes, logger: .silent).searchNext()
        #expect(hubs["hub-a"]?.devices.isEmpty == true)
        #expect(hubs["hub-b"]?.installations.keys.sorted() == ["i1"])
    }

    /// The devices of another hub are not kept waiting by one that does not answer.
    @Test func `The reconciler goes on after a failure`() async throws {
        let changes = changes("hub-a", "hub-b")
        for (id, owner) in [("i1", "alice"), ("i2", "bob")] {
            try await install(try installation(id, owner, handle: "h-\(id)"), changes)
            let lease = try await lease(.installation, id, if: .any)
            try await store.expire(lease, now: .now)
        }
        hubs["hub-b"]?.failPuts(PushGatewayError(.unavailable, "down"))
        #expect(await HubReconciler(changes: changes, logger: .silent).sweep(now: .now + .seconds(1)) >= .seconds(1))
        let left = try await store.expiredLeases(limit: 9, now: .now + .seconds(60))
        #expect(left.map(\.id) == ["i1"])
    }
}

/// Devices that were removed while this service's file did not have their hub, or while the hub did not answer.
extension DevicePoolTests {
    /// The file at the moment.
    private final class CurrentTable: Sendable {
        let table: Mutex<HubTable<any DevicePlacer.Hub>>

        init(_ table: HubTable<any DevicePlacer.Hub>) { self.table = Mutex(table) }
    }

    private func sweep(_ changes: DeviceChanges) throws -> StrayDeviceSweep {
        try #require(StrayDeviceSweep(changes: changes, logger: .silent))
    }

    /// Copies an installation to its user's hub, as `securepush hubs rebalance --copy-only` does with another file.
    private func copy(_ id: String, _ names: String...) async throws {
        let table = table(names)
        let installation = try #require(try await store.installation(id))
        let lease = try await lease(.installation, id, if: .any)
        try await DevicePlacer(.pool { table }, places: store).copy(.installation(installation), lease)
        #expect(try await store.end(lease, .keep, now: .now))
    }

    /// Puts a device at a hub that is on record there and not stored.
    private func strand(_ id: String, _ kind: DeviceLease.Kind = .installation, at name: String) async throws {
        switch kind {
        case .installation: hubs[name]?.plant(id, FakeHub.Installed(handle: "h", document: "{}"))
        case .registration: hubs[name]?.plant(id, FakeHub.Device(platform: .apns, handle: "h", tags: []))
        }
        let lease = try await lease(kind, id, if: .absent)
        #expect(try await store.setPlaces([DevicePlace(hub: name, content: 1)], of: lease))
        #expect(try await store.end(lease, .keep, now: .now))
    }

    private func expectNoLease() async throws {
        #expect(try await store.expiredLeases(limit: 9, now: .now + .seconds(99)).isEmpty)
    }

    @Test func `A device that is removed before the new file is deleted at the new hub`() async throws {
        let two = changes("hub-a", "hub-b")
        try await install(try installation("i1"), two)
        try await copy("i1", "hub-a", "hub-b", "hub-c")
        #expect(holders("i1") == ["hub-b", "hub-c"])
        #expect(try await two.remove(.installation, "i1", if: .any))
        #expect(holders("i1") == ["hub-c"])
        // Without the hub in the file nobody can be asked.
        let asked = hubs["hub-b"]?.ids
        _ = try await sweep(two).sweep()
        #expect(holders("i1") == ["hub-c"] && hubs["hub-b"]?.ids == asked)
        #expect(try await places("i1") == ["hub-c"])
        _ = try await sweep(changes("hub-a", "hub-b", "hub-c")).sweep()
        #expect(holders("i1").isEmpty)
        #expect(try await places("i1").isEmpty)
        try await expectNoLease()
    }

    @Test func `A device that is taken over before the new file is deleted at the former user's new hub`() async throws
    {
        let two = changes("hub-a", "hub-b")
        try await install(try installation("i1"), two)
        try await copy("i1", "hub-a", "hub-b", "hub-c")
        try await install(try installation("i2", "bob"), two)
        #expect(try await store.installation("i1") == nil)
        #expect(holders("i1") == ["hub-c"] && holders("i2") == ["hub-a"])
        _ = try await sweep(changes("hub-a", "hub-b", "hub-c")).sweep()
        #expect(holders("i1").isEmpty && holders("i2") == ["hub-a"])
    }

    @Test func `All pages are looked at`() async throws {
        for number in 0..<205 { try await strand("i\(number)", at: "hub-b") }
        try await strand("r1", .registration, at: "hub-a")
        // A hub that is not in the file must not end the search.
        try await strand("h", at: "hub-c")
        _ = try await sweep(changes("hub-a", "hub-b")).sweep()
        #expect(hubs["hub-b"]?.installations.isEmpty == true && hubs["hub-a"]?.devices.isEmpty == true)
        #expect(try await store.placesWithoutDevice(of: .installation, after: nil, limit: 9).map(\.id) == ["h"])
        #expect(try await store.placesWithoutDevice(of: .registration, after: nil, limit: 9).isEmpty)
    }

    @Test func `A hub that fails keeps its own devices only`() async throws {
        for (id, hub) in [("i1", "hub-a"), ("i2", "hub-b"), ("i3", "hub-a")] { try await strand(id, at: hub) }
        hubs["hub-a"]?.failDeletions(PushGatewayError(.unavailable, "down"))
        let sweep = try sweep(changes("hub-a", "hub-b"))
        _ = await sweep.sweep()
        #expect(holders("i1") == ["hub-a"] && holders("i2").isEmpty && holders("i3") == ["hub-a"])
        // A request to such a hub may take long, so there is one in each pass.
        #expect(hubs["hub-a"]?.ids == ["i1"])
        #expect(try await places("i1") == ["hub-a"])
        try await expectNoLease()
        hubs["hub-a"]?.failDeletions(nil)
        _ = await sweep.sweep(now: .now + StrayDeviceSweep.minPause)
        #expect(holders("i1").isEmpty && holders("i3").isEmpty)
    }

    @Test func `A device that is back or in use stays`() async throws {
        let changes = changes("hub-a", "hub-b")
        try await strand("i1", at: "hub-b")
        let lease = try await lease(.installation, "i1", if: .absent)
        _ = try await sweep(changes).sweep()
        #expect(holders("i1") == ["hub-b"])
        _ = try await store.end(lease, .keep, now: .now)
        try await install(try installation("i1"), changes)
        _ = try await sweep(changes).sweep()
        #expect(holders("i1") == ["hub-b"])
        #expect(try await places("i1") == ["hub-b"])
    }

    @Test func `A pass follows the file and is rare afterwards`() async throws {
        let file = CurrentTable(table(["hub-a", "hub-b"]))
        let sweep = try sweep(DeviceChanges(hubs: .pool { file.table.withLock { $0 } }, store: store))
        _ = await sweep.sweep()
        try await strand("i1", at: "hub-b")
        _ = await sweep.sweep()
        #expect(holders("i1") == ["hub-b"])
        _ = await sweep.sweep(now: .now + StrayDeviceSweep.minPause)
        #expect(holders("i1").isEmpty)
        try await strand("i2", at: "hub-c")
        let three = table(["hub-a", "hub-b", "hub-c"])
        file.table.withLock { $0 = three }
        _ = await sweep.sweep()
        #expect(holders("i2").isEmpty)
    }

    @Test func `The service deletes them soon after its start`() async throws {
        try await strand("i1", at: "hub-b")
        let services = ServiceGroup(
            services: deviceSweeps(changes("hub-a", "hub-b"), logger: .silent), gracefulShutdownSignals: [],
            logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            try await expectEventually { holders("i1").isEmpty }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
        // One hub has no places.
        let single = DeviceChanges(hubs: .single(try #require(hubs["hub-a"])), store: store)
        #expect(StrayDeviceSweep(changes: single, logger: .silent) == nil)
    }
}
