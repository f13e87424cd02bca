import Domain
import Foundations

extension SQLStore {
    /// Every ID sorts after the empty string. The order is that of the index `installations_owner_id`.
    func installations(of owner: UserName, after id: String?, limit: Int) async throws -> [Installation] {
        try await installations("owner = \(owner) AND id > \(id ?? "") ORDER BY owner, id LIMIT \(max(limit, 0))")
    }

    func devices(of owner: UserName, limit: Int) async throws -> [DeviceReference] {
        let condition: SQL = "owner = \(owner) LIMIT \(max(limit, 0))"
        return try await read { db in
            try db.devices(.installation, condition) + db.devices(.registration, condition)
        }
    }

    func dueDevices(unseenSince: Timestamp, limit: Int, now: Timestamp) async throws -> [DeviceReference] {
        let limit = max(limit, 0)
        return try await read { db in
            try db.devices(.installation, "expires_at <= \(now) ORDER BY expires_at LIMIT \(limit)")
                + db.devices(.installation, "last_seen_at <= \(unseenSince) ORDER BY last_seen_at LIMIT \(limit)")
                + db.devices(.registration, "updated_at <= \(unseenSince) ORDER BY updated_at LIMIT \(limit)")
        }
    }
}

extension SQLTransaction {
    fileprivate func devices(_ kind: DeviceLease.Kind, _ condition: SQL) throws -> [DeviceReference] {
        try all("SELECT id FROM \(raw: kind.table) WHERE \(condition)") { row in
            DeviceReference(kind: kind, id: try row())
        }
    }
}
