extension MemoryStore: DevicePlaces {
    package func places(of kind: DeviceLease.Kind, _ ids: [String]) async throws -> [String: [DevicePlace]] {
        var found: [String: [DevicePlace]] = [:]
        for id in ids {
            guard let places = devicePlaces[DeviceKey(kind: kind, id: MemoryStore.key(id))] else { continue }
            found[DeviceID.folded(id)] = places
        }
        return found
    }

    package func setPlaces(_ places: [DevicePlace], of lease: DeviceLease) async throws -> Bool {
        let key = DeviceKey(kind: lease.kind, id: MemoryStore.key(lease.id))
        guard deviceLeases[key]?.token == lease.token else { return false }
        devicePlaces[key] =
            places.isEmpty ? nil : places.sorted { $0.hub.utf8.lexicographicallyPrecedes($1.hub.utf8) }
        return true
    }

    package func placesWithoutDevice(
        of kind: DeviceLease.Kind, after id: String?, limit: Int
    ) async throws -> [DeviceReference] {
        let after = id.map(MemoryStore.key) ?? []
        let stored = kind == .installation ? Set(installations.keys) : Set(registrations.keys)
        return devicePlaces.keys
            .filter { $0.kind == kind && !stored.contains($0.id) && after.lexicographicallyPrecedes($0.id) }
            .map(\.id).sorted { $0.lexicographicallyPrecedes($1) }
            .prefix(max(limit, 0)).map { DeviceReference(kind: kind, id: String(decoding: $0, as: UTF8.self)) }
    }
}
