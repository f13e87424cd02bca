import Domain
import Storage
import TestSupport
import Testing

@Suite(.stores) struct DevicePlaceTests {
    private func lease(
        _ store: any Store, _ id: String, _ kind: DeviceLease.Kind = .installation
    ) async throws -> DeviceLease {
        guard case .leased(let lease) = try await store.lease(kind, id, if: .any, now: noon) else {
            throw StorageError(.failed, "The device \(id) is busy.")
        }
        return lease
    }

    /// Sets the places of a device under a lease of its own.
    private func set(
        _ places: [DevicePlace], _ store: any Store, _ id: String, _ kind: DeviceLease.Kind = .installation
    ) async throws {
        let lease = try await lease(store, id, kind)
        #expect(try await store.setPlaces(places, of: lease))
        #expect(try await store.end(lease, .keep, now: noon))
    }

    @Test(arguments: conformingStores)
    func `Places are replaced as a whole`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (a, b) = (DevicePlace(hub: "hub-a", content: .min), DevicePlace(hub: "hub-b"))
        #expect(try await store.places(of: .installation, ["Phone"]).isEmpty)
        #expect(try await store.places(of: .installation, []).isEmpty)
        try await set([b, a], store, "Phone")
        // In the order of the hubs' names; the case of the ID does not matter.
        #expect(try await store.places(of: .installation, ["pHONE", "other"]) == ["phone": [a, b]])
        #expect(try await store.places(of: .registration, ["Phone"]).isEmpty)
        let (c, newB) = (DevicePlace(hub: "hub-c", content: .max), DevicePlace(hub: "hub-b", content: 7))
        try await set([newB, c], store, "PHONE")
        try await set([a], store, "Phone", .registration)
        #expect(try await store.places(of: .installation, ["phone"]) == ["phone": [newB, c]])
        #expect(try await store.places(of: .registration, ["phone"]) == ["phone": [a]])
        try await set([], store, "phone")
        #expect(try await store.places(of: .installation, ["phone"]).isEmpty)
        #expect(try await store.places(of: .registration, ["phone"]) == ["phone": [a]])
    }

    @Test(arguments: conformingStores)
    func `Only the holder of the lease sets places`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let place = DevicePlace(hub: "hub-a", content: 1)
        try await set([place], store, "i")
        let old = try await lease(store, "i")
        try await store.expire(old, now: noon)
        let new = try await lease(store, "I")
        #expect(try await !store.setPlaces([DevicePlace(hub: "hub-b")], of: old))
        #expect(try await store.places(of: .installation, ["i"]) == ["i": [place]])
        #expect(try await store.setPlaces([DevicePlace(hub: "hub-c")], of: new))
        #expect(try await store.end(new, .keep, now: noon))
        #expect(try await !store.setPlaces([place], of: new))
        #expect(try await store.places(of: .installation, ["i"]) == ["i": [DevicePlace(hub: "hub-c")]])
    }

    @Test(arguments: conformingStores)
    func `Places outlive their device, and are found then`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for id in ["b", "A", "c"] {
            try await store.save(
                Installation(
                    id: id, owner: .alice, platform: .apple, handle: "h-\(id)", document: [], updatedAt: noon))
            try await set([DevicePlace(hub: "hub-a"), DevicePlace(hub: "hub-b")], store, id)
        }
        try await set([DevicePlace(hub: "hub-a")], store, "R", .registration)
        func found(_ kind: DeviceLease.Kind, after id: String? = nil, limit: Int = 9) async throws -> [String] {
            try await store.placesWithoutDevice(of: kind, after: id, limit: limit).map(\.id)
        }
        #expect(try await found(.installation).isEmpty)
        #expect(try await found(.registration) == ["r"])
        try await store.removeInstallation("a")
        try await store.removeInstallation("B")
        #expect(try await found(.installation) == ["a", "b"])
        #expect(try await found(.installation, limit: 1) == ["a"])
        #expect(try await found(.installation, after: "A") == ["b"])
        #expect(try await found(.installation, limit: -1).isEmpty)
        try await set([], store, "a")
        #expect(try await found(.installation) == ["b"])
    }

    /// More than one statement of PostgreSQL looks at.
    @Test(arguments: conformingStores)
    func `Many devices are found, whatever lies between them`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let workers = 8
        let ids = (0..<1100).map { "i\(10_000 + $0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    for index in stride(from: worker, to: ids.count, by: workers) {
                        try await set([DevicePlace(hub: "hub-a")], store, ids[index])
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = try await store.placesWithoutDevice(of: .installation, after: nil, limit: 2000)
        #expect(all.map(\.id) == ids)
        let last = try await store.placesWithoutDevice(of: .installation, after: ids[1048], limit: 2000)
        #expect(last.map(\.id) == Array(ids[1049...]))
        let some = try await store.placesWithoutDevice(of: .installation, after: ids[5], limit: 1010)
        #expect(some.map(\.id) == Array(ids[6..<1016]))
    }
}
