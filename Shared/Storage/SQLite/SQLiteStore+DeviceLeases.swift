import GRDB
import SecurePushCore

extension SQLiteStore: DeviceLeases {
    func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome {
        let change = SQLiteDeviceChange.lease(kind, id, condition, now: now)
        guard case .deviceLease(let outcome)? = try await submit([.device(change)]).first else { return .refused }
        return outcome
    }

    func end(_ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp) async throws -> Bool {
        let change = SQLiteDeviceChange.end(lease, change, now: now)
        guard case .deviceLeaseEnded(let wasHeld)? = try await submit([.device(change)]).first else { return false }
        return wasHeld
    }

    func expire(_ lease: DeviceLease, now: Timestamp) async throws {
        _ = try await submit([.device(.expire(lease, now: now))])
    }

    func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: SQLiteDeviceChange.expired)
            return try Row.fetchAll(statement, arguments: [now.milliseconds, max(limit, 0)]).map { row in
                guard let kind = DeviceLease.Kind(rawValue: row[0]) else { throw Row.unreadable("kind") }
                return DeviceLease.Expired(kind: kind, id: row[1])
            }
        }
    }

    func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String? {
        let change = SQLiteDeviceChange.leaseNewHandle(now: now, until: until)
        guard case .newHandle(let handle)? = try await submit([.device(change)]).first else { return nil }
        return handle
    }

    func settleNewHandle(_ handles: [String]) async throws {
        _ = try await submit([.device(.settleNewHandle(handles))])
    }
}
