import GRDB
import SecurePushCore

extension SQLiteStore {
    func places(of kind: DeviceLease.Kind, _ ids: [String]) async throws -> [String: [DevicePlace]] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: DevicePlace.ofDevice)
            var found: [String: [DevicePlace]] = [:]
            for id in Set(ids.map(DeviceID.folded)) {
                let rows = try Row.fetchAll(statement, arguments: [kind.rawValue, id])
                if !rows.isEmpty { found[id] = try rows.map { try DevicePlace($0) } }
            }
            return found
        }
    }

    func setPlaces(_ places: [DevicePlace], of lease: DeviceLease) async throws -> Bool {
        let change = SQLiteDeviceChange.setPlaces(places, of: lease)
        guard case .deviceLeaseEnded(let isHeld)? = try await submit([.device(change)]).first else { return false }
        return isHeld
    }

    func placesWithoutDevice(
        of kind: DeviceLease.Kind, after id: String?, limit: Int
    ) async throws -> [DeviceReference] {
        try checkRunning()
        return try await database.read { db in
            let sql = kind == .installation ? DevicePlace.withoutInstallation : DevicePlace.withoutRegistration
            return try String.fetchAll(
                db.cachedStatement(sql: sql), arguments: [id.map(DeviceID.folded) ?? "", max(limit, 0)]
            ).map { DeviceReference(kind: kind, id: $0) }
        }
    }
}

extension DevicePlace {
    static let ofDevice = "SELECT hub, content FROM device_places WHERE kind = ? AND id = ? ORDER BY hub"
    static let withoutInstallation = without("installations", .installation)
    static let withoutRegistration = without("registrations", .registration)

    /// Every ID sorts after the empty string.
    private static func without(_ table: String, _ kind: DeviceLease.Kind) -> String {
        """
        SELECT DISTINCT id FROM device_places AS place
        WHERE kind = \(kind.rawValue) AND id > ? AND NOT EXISTS (
            SELECT 1 FROM \(table) AS device WHERE device.id = place.id COLLATE NOCASE)
        ORDER BY id LIMIT ?
        """
    }

    fileprivate init(_ row: Row) throws {
        self.init(hub: try row.value(0, column: "hub"), content: try row.valueIfPresent(1, column: "content"))
    }

    static let statements = [ofDevice, withoutInstallation, withoutRegistration]
}

extension SQLiteDeviceChange {
    /// - Returns: whether the lease is held.
    static func set(_ places: [DevicePlace], of lease: DeviceLease, _ db: Database) throws -> Bool {
        let (kind, id) = (lease.kind.rawValue, DeviceID.folded(lease.id))
        let held = try Int.fetchOne(
            db.cachedStatement(sql: leaseIsHeld), arguments: [kind, lease.id, lease.token])
        guard held != nil else { return false }
        try db.cachedStatement(sql: removePlaces).execute(arguments: [kind, id])
        for place in places {
            try db.cachedStatement(sql: savePlace).execute(arguments: [kind, id, place.hub, place.content])
        }
        return true
    }

    static let leaseIsHeld = "SELECT 1 FROM device_leases WHERE kind = ? AND id = ? AND token = ?"
    static let removePlaces = "DELETE FROM device_places WHERE kind = ? AND id = ?"
    static let savePlace = "INSERT OR REPLACE INTO device_places (kind, id, hub, content) VALUES (?, ?, ?, ?)"
}

extension SQLiteSchema {
    /// The hubs at which a device may be (`HUB_POOL_FILE`); no rows without a pool. A row outlives its device until the
    /// hub has deleted the device. IDs are folded.
    static let devicePlaces = """
        CREATE TABLE device_places (
            kind INTEGER NOT NULL,
            id TEXT NOT NULL COLLATE BINARY,
            hub TEXT NOT NULL COLLATE BINARY,
            content INTEGER,
            PRIMARY KEY (kind, id, hub)
        ) STRICT, WITHOUT ROWID
        """
}
