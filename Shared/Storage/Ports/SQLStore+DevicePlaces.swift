import Domain

extension SQLStore {
    /// The places are sorted here: no index has both the IDs and the hubs in the order of this list.
    func places(of kind: DeviceLease.Kind, _ ids: [String]) async throws -> [String: [DevicePlace]] {
        if ids.isEmpty { return [:] }
        let keys = Set(ids.map(DeviceID.folded))
        let found = try await all(
            "SELECT key, hub, content FROM device_places WHERE kind = \(kind) AND key \(in: keys)"
        ) { row in (key: try row() as String, place: DevicePlace(hub: try row(), content: try row())) }
        return Dictionary(grouping: found, by: \.key).mapValues { $0.map(\.place).sorted { $0.hub < $1.hub } }
    }

    func setPlaces(_ places: [DevicePlace], of lease: DeviceLease) async throws -> Bool {
        let (kind, key) = (lease.kind, DeviceID.folded(lease.id))
        return try await write { db in
            guard try db.exists("SELECT 1 FROM device_leases WHERE \(.row(of: lease)) \(.forUpdate)") else {
                return false
            }
            var changes: [SQL] = ["DELETE FROM device_places WHERE kind = \(kind) AND key = \(key)"]
            changes += places.map { place in
                """
                INSERT INTO device_places (kind, key, hub, content)
                VALUES (\(kind), \(key), \(place.hub), \(place.content))
                """
            }
            try db.run(each: changes)
            return true
        }
    }

    /// Each statement looks at some devices: of millions, hardly one is missing, and a statement's time is limited.
    /// Every ID sorts after the empty string.
    func placesWithoutDevice(
        of kind: DeviceLease.Kind, after id: String?, limit: Int
    ) async throws -> [DeviceReference] {
        var found: [DeviceReference] = []
        var next: String? = id.map(DeviceID.folded) ?? ""
        while let after = next, found.count < limit {
            // SQLite uses the index of folded IDs for an expression, not for a column.
            let looked = try await all(
                """
                SELECT key, EXISTS (SELECT 1 FROM \(raw: kind.table) AS device WHERE lower(device.id) = lower(key))
                FROM device_places WHERE kind = \(kind) AND key > \(after) GROUP BY key ORDER BY key LIMIT 1000
                """
            ) { row in (id: try row() as String, isStored: try row() as Bool) }
            found += looked.filter { !$0.isStored }.map { DeviceReference(kind: kind, id: $0.id) }
            next = looked.last?.id
        }
        return Array(found.prefix(max(limit, 0)))
    }
}
