import ArgumentParser
import Domain
import Foundations
import Synchronization
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct HubRefillTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    /// A store with three installations, three registrations and an ID without a handle.
    private func store() async throws -> any Store {
        let store = memoryStore()
        let alice = try #require(UserName("Alice"))
        for number in 1...3 {
            try await store.save(
                Installation(
                    id: "i\(number)", owner: alice, platform: .apple, handle: "secret-handle",
                    document: Array("{\"n\":\(number)}".utf8), updatedAt: now))
            try await store.save(
                Registration(
                    id: "r\(number)", owner: alice, platform: .wns, handle: "secret-handle",
                    tags: number == 1 ? [] : ["news", "username:#41lice"], updatedAt: now))
        }
        try await store.save(Registration(id: "r4", owner: alice, updatedAt: now))
        return store
    }

    private func refill(_ store: any Store, _ hub: FakeHub, dryRun: Bool = false) -> HubRefill {
        HubRefill(
            store: store, hubs: dryRun ? nil : .single(hub),
            pause: { wait in hub.pauses.withLock { $0.append(wait) } })
    }

    @Test func `Everything is put as it is stored`() async throws {
        let hub = FakeHub { _ in nil }
        let report = try await refill(store(), hub).run(DeviceLease.Kind.allCases) { _ in }
        #expect(report.summary == "put 3 installations and 3 registrations; 1 have no handle yet; 0 failed")
        #expect(
            hub.kept.withLock { $0 } == [
                "i1": #"{"n":1}"#, "i2": #"{"n":2}"#, "i3": #"{"n":3}"#,
                // The user's own tag is never missing.
                "r1": "wns secret-handle username:#41lice", "r2": "wns secret-handle news,username:#41lice",
                "r3": "wns secret-handle news,username:#41lice",
            ])
    }

    @Test(arguments: [DeviceLease.Kind.installation, .registration])
    func `One kind only`(kind: DeviceLease.Kind) async throws {
        let hub = FakeHub { _ in nil }
        let report = try await refill(store(), hub).run([kind]) { _ in }
        #expect(report.installations == (kind == .installation ? 3 : 0))
        #expect(report.registrations == (kind == .registration ? 3 : 0))
        #expect(hub.kept.withLock { $0.count } == 3)
    }

    @Test func `A dry run asks the hub nothing`() async throws {
        let hub = FakeHub { _ in PushGatewayError(.unavailable, "down") }
        let report = try await refill(store(), hub, dryRun: true).run(DeviceLease.Kind.allCases) { _ in }
        #expect(report.summary == "would put 3 installations and 3 registrations; 1 have no handle yet; 0 failed")
        #expect(hub.requests.withLock { $0.isEmpty })
    }

    @Test func `Many pages, sixteen at a time`() async throws {
        let store = memoryStore()
        let owner = try #require(UserName("alice"))
        for number in 0..<1203 {
            let id = "i\(number)"
            try await store.save(
                Installation(
                    id: id, owner: owner, platform: .apple, handle: id, document: Array(id.utf8), updatedAt: now))
        }
        let hub = FakeHub { _ in nil }
        var seen = 0
        let report = try await refill(store, hub).run([.installation]) { seen = $0.done }
        #expect(report.installations == 1203 && seen == 1203)
        #expect(hub.kept.withLock { $0.count } == 1203)
        #expect(hub.mostAtOnce.withLock { $0 } <= 16)
    }

    @Test func `What the hub refuses is listed without the handle, and the others are put`() async throws {
        let hub = FakeHub { id in
            switch id {
            case "i2": PushGatewayError(.rejected, "HTTP 400: The handle secret-handle is not one")
            case "r3": PushGatewayError(.gone, "HTTP 410: given up")
            default: nil
            }
        }
        let report = try await refill(store(), hub).run(DeviceLease.Kind.allCases) { _ in }
        #expect(report.installations == 2 && report.registrations == 2)
        let failures = report.failures.listed
        #expect(failures.map(\.id) == ["i2", "r3"] && report.failures.rest == nil)
        #expect(failures.map(\.kind) == ["installation", "registration"])
        #expect(failures[0].reason == "the hub refuses it (HTTP 400)")
        #expect(failures[1].reason.contains("registers again"))
        #expect(try JSONCoding.encode(failures[0]).contains(#""Id":"i2","Kind":"installation""#))
        #expect(
            try JSONCoding.encode(report)
                == #"{"DryRun":false,"Failed":2,"Incomplete":1,"Installations":2,"Registrations":2}"#)
    }

    @Test func `A throttled request waits as long as the hub asks`() async throws {
        let refusals = Mutex(2)
        let hub = FakeHub { _ in
            let isRefused = refusals.withLock { left in
                left -= 1
                return left >= 0
            }
            guard isRefused else { return nil }
            return PushGatewayError(.throttled, "HTTP 429", retryAfter: .seconds(9))
        }
        let report = try await refill(store(), hub).run([.installation]) { _ in }
        #expect(report.installations == 3 && report.failures.count == 0)
        let pauses = hub.pauses.withLock { $0 }
        #expect(pauses == [.seconds(9), .seconds(9)])
    }

    @Test(arguments: [
        (PushGatewayError(.unavailable, "the hub did not answer (x)"), CommandFailure.Code.unreachable),
        (PushGatewayError(.unauthorized, "HTTP 401: secret-handle"), .configuration),
    ])
    func `A hub that is down or refuses us ends it`(error: PushGatewayError, code: CommandFailure.Code) async throws {
        let hub = FakeHub { $0.hasPrefix("r") ? error : nil }
        let command = refill(try await store(), hub)
        let failure = await #expect(throws: CommandFailure.self) {
            try await command.run(DeviceLease.Kind.allCases) { _ in }
        }
        #expect(failure?.code == code)
        #expect(failure?.details.first?.contains("put 3 installations and 0 registrations") == true)
        #expect(failure?.message.contains("secret-handle") == false)
    }

    @Test func `With several hubs each device is put at its user's hub, and on record there`() async throws {
        let store = try await store()
        let alice = try #require(UserName("Alice"))
        let hubs = ["hub-a": FakeHub { _ in nil }, "hub-b": FakeHub { _ in nil }]
        let table = HubTable<any DevicePlacer.Hub>(hubs.map { .init(label: $0.key, client: $0.value) })
        let own = table.member(for: alice).name
        let other = own == "hub-a" ? "hub-b" : "hub-a"
        let (hub, former) = (try #require(hubs[own]), try #require(hubs[other]))
        // It was registered when its user belonged to the other hub.
        try await former.putInstallation("i1", document: [])
        try await store.withLease(of: DeviceReference(kind: .installation, id: "i1")) { _, lease in
            let isSet = try await store.setPlaces([DevicePlace(hub: other, content: 7)], of: lease)
            #expect(isSet)
        }
        func run() async throws {
            let refill = HubRefill(store: store, hubs: .pool { table }, pause: { _ in })
            let report = try await refill.run(DeviceLease.Kind.allCases) { _ in }
            #expect(report.summary == "put 3 installations and 3 registrations; 1 have no handle yet; 0 failed")
            #expect(hub.kept.withLock { $0.keys.sorted() } == ["i1", "i2", "i3", "r1", "r2", "r3"])
            #expect(former.kept.withLock { $0.isEmpty })
            let places = try await store.places(of: .installation, ["i1", "i2", "i3"])
            #expect(places.values.map { $0.map(\.hub) } == [[own], [own], [own]])
            #expect(try await store.places(of: .registration, ["r1", "r2", "r3", "r4"]).count == 3)
            #expect(try await store.expiredLeases(limit: 9, now: .now + .seconds(99)).isEmpty)
        }
        try await run()
        // The hub has lost its devices, although they are on record.
        hub.kept.withLock { $0 = [:] }
        try await run()
        // A removal reaches the device.
        try await store.withLease(of: DeviceReference(kind: .installation, id: "i1")) { _, lease in
            try await DevicePlacer(.pool { table }, places: store).delete(lease)
        }
        #expect(hub.kept.withLock { $0["i1"] } == nil)
    }

    @Test func `With several hubs a device that the services are changing is listed`() async throws {
        let store = try await store()
        let hub = FakeHub { id in id == "r3" ? PushGatewayError(.rejected, "HTTP 400: secret-handle") : nil }
        let table = HubTable<any DevicePlacer.Hub>([.init(label: "hub-a", client: hub)])
        // A busy machine may need longer than a lease lasts: this one begins in an hour.
        let later = Timestamp.now + .seconds(3600)
        guard case .leased = try await store.lease(.installation, "i2", if: .any, now: later) else {
            return #expect(Bool(false))
        }
        let refill = HubRefill(
            store: store, hubs: .pool { table }, pause: { wait in hub.pauses.withLock { $0.append(wait) } })
        let report = try await refill.run(DeviceLease.Kind.allCases) { _ in }
        #expect(report.failures.listed.map(\.id) == ["i2", "r3"])
        #expect(
            report.failures.listed.map(\.reason) == ["the services are changing it", "the hub refuses it (HTTP 400)"])
        #expect(hub.pauses.withLock { $0.count } == 5)
        // Nothing is on record where nothing is, and only the lease of the services is held.
        #expect(try await store.places(of: .registration, ["r3"]).isEmpty)
        #expect(try await store.expiredLeases(limit: 9, now: later + .seconds(99)).map(\.id) == ["i2"])
    }

    @Test func `The command's flags`() throws {
        func kinds(_ arguments: String...) throws -> [DeviceLease.Kind] {
            try InstallationsCommand.Refill.parse(arguments).kinds
        }
        #expect(try kinds() == [.installation, .registration])
        #expect(try kinds("--installations-only") == [.installation])
        #expect(try kinds("--registrations-only", "--dry-run") == [.registration])
        #expect(throws: (any Error).self) { try kinds("--installations-only", "--registrations-only") }
    }

    @Test func `Without a database, or with no hub's settings, it says so`() async throws {
        let missing = await #expect(throws: CommandFailure.self) {
            try await HubRefill.run([], databaseURL: "sqlite:/nowhere/none.sqlite", hubs: nil, line: ProgressLine())
        }
        #expect(missing?.code == .unreachable)
        let settings = #expect(throws: CommandFailure.self) { try Settings(["HUB_NAME": "hub"]).hub() }
        #expect(settings?.code == .configuration)
    }

    @Test func `The command opens store and hub, and closes them again`() async throws {
        let hub = try Settings([
            "HUB_CONNECTION_STRING": "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=a;SharedAccessKey=b=",
            "HUB_NAME": "hub",
        ]).hubs()
        // Nothing is stored, so that the hub, which is not there, is not asked.
        let report = try await HubRefill.run(
            DeviceLease.Kind.allCases, databaseURL: "memory:", hubs: hub, line: ProgressLine())
        #expect(report == RefillReport())
    }
}
