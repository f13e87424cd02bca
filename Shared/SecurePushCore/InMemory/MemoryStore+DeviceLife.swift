extension MemoryStore: DeviceLife {
    package func installations(
        of owner: UserName, after id: String?, limit: Int
    ) async throws -> [Installation] {
        installations.values
            .filter { found in
                found.owner == owner && id.map { $0.utf8.lexicographicallyPrecedes(found.id.utf8) } ?? true
            }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
            .prefix(max(limit, 0)).map(\.self)
    }

    package func devices(of owner: UserName, limit: Int) async throws -> [DeviceReference] {
        let limit = max(limit, 0)
        return installations.values.filter { $0.owner == owner }.prefix(limit)
            .map { DeviceReference(kind: .installation, id: $0.id) }
            + registrations.values.filter { $0.owner == owner }.prefix(limit)
            .map { DeviceReference(kind: .registration, id: $0.id) }
    }

    package func dueDevices(
        unseenSince: Timestamp, limit: Int, now: Timestamp
    ) async throws -> [DeviceReference] {
        let limit = max(limit, 0)
        return installations.values.filter { $0.expiresAt.map { $0 <= now } ?? false }.prefix(limit)
            .map { DeviceReference(kind: .installation, id: $0.id) }
            + installations.values.filter { $0.lastSeenAt <= unseenSince }.prefix(limit)
            .map { DeviceReference(kind: .installation, id: $0.id) }
            + registrations.values.filter { $0.updatedAt <= unseenSince }.prefix(limit)
            .map { DeviceReference(kind: .registration, id: $0.id) }
    }
}
