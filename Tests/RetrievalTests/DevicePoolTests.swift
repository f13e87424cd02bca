import SecurePushCore
import ServiceRuntime
import Testing

@testable import Retrieval

/// Devices in a system with several hubs (`HUB_POOL_FILE`). alice's hub is hub-b, and hub-c once there is one; bob's is
/// hub-a.
@Suite struct DevicePoolTests {
    private let store = MemoryStore()
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

    /// The hubs that have an installation.
    private func holders(_ id: String) -> [String] {
        hubs.filter { $0.value.installations[id] != nil }.keys.sorted()
    }

    private func places(_ id: String, _ kind: DeviceLease.Kind = .installation) async throws -> [String] {
        try await store.places(of: kind, [id])[id]?.map(\.hub) ?? []
    }

    @Test func aDeviceRegistersAtItsUsersHub() async throws {
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

    @Test func aDeviceThatChangesHandsMovesToTheNewUsersHub() async throws {
        let changes = changes("hub-a", "hub-b")
        try await install(try installation("i1"), changes)
        try await install(try installation("i1", "bob"), changes)
        #expect(holders("i1") == ["hub-a"])
        #expect(try await places("i1") == ["hub-a"])
    }

    @Test func aDeviceIsRemovedAtTheHubWhereItWas() async throws {
        try await install(try installation("i1"), changes("hub-a", "hub-b"))
        // alice's hub is hub-c now, and the device registers again.
        try await install(try installation("i1", handle: "h2"), changes("hub-a", "hub-b", "hub-c"))
        #expect(holders("i1") == ["hub-c"])
        #expect(try await places("i1") == ["hub-c"])
    }

    @Test func aHubThatDoesNotAnswerIsRemembered() async throws {
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

    @Test func aHubThatHasLeftTheFileStaysOnRecord() async throws {
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
    @Test func aDeviceOfTheSingleHubMoves() async throws {
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

    @Test func aRefusalLeavesNoPlace() async throws {
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

    @Test func aRegistrationIDComesFromTheUsersHub() async throws {
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

    @Test func aHandleIsSearchedAtEveryHub() async throws {
        hubs["hub-a"]?.plant("x", FakeHub.Device(platform: .apns, handle: "h1", tags: ["username:mallory"]))
        hubs["hub-b"]?.plant("old", FakeHub.Installed(handle: "h1", document: "{}"))
        let changes = changes("hub-a", "hub-b")
        try await install(try installation("i1"), changes)
        _ = await NewHandleSearch(changes: changes, logger: .silent).searchNext()
        #expect(hubs["hub-a"]?.devices.isEmpty == true)
        #expect(hubs["hub-b"]?.installations.keys.sorted() == ["i1"])
    }

    /// The devices of another hub are not kept waiting by one that does not answer.
    @Test func theReconcilerGoesOnAfterAFailure() async throws {
        let changes = changes("hub-a", "hub-b")
        for (id, owner) in [("i1", "alice"), ("i2", "bob")] {
            try await install(try installation(id, owner, handle: "h-\(id)"), changes)
            guard case .leased(let lease) = try await store.lease(.installation, id, if: .any, now: .now) else {
                return #expect(Bool(false))
            }
            try await store.expire(lease, now: .now)
        }
        hubs["hub-b"]?.failPuts(PushGatewayError(.unavailable, "down"))
        #expect(await HubReconciler(changes: changes, logger: .silent).sweep(now: .now + .seconds(1)) >= .seconds(1))
        let left = try await store.expiredLeases(limit: 9, now: .now + .seconds(60))
        #expect(left.map(\.id) == ["i1"])
    }
}
