import Domain
import Foundations

// The part of `DeviceStore` about handles that are new to this store.

extension SQLStore {
    /// Skips rows that another process has locked.
    func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String? {
        for kind in DeviceLease.Kind.allCases {
            let handles: [String] = try await change(
                """
                UPDATE \(raw: kind.table) SET new_handle_at = \(until) WHERE id = (
                    SELECT id FROM \(raw: kind.table) WHERE new_handle_at <= \(now)
                    ORDER BY new_handle_at LIMIT 1 \(.skipLocked)
                ) RETURNING handle
                """
            ) { row in try row() }
            if let handle = handles.first { return handle }
        }
        return nil
    }

    func settleNewHandle(_ handles: [String]) async throws {
        try await write { db in
            try db.run(
                each: DeviceLease.Kind.allCases.map { kind in
                    """
                    UPDATE \(raw: kind.table) SET new_handle_at = NULL
                    WHERE handle IN (SELECT value FROM \(table: handles, as: "settled")) AND new_handle_at IS NOT NULL
                    """
                })
        }
    }
}

extension SQLTransaction {
    /// When to ask the hub about a handle; `nil` if that was done while another device that is still stored had it.
    func newHandleAt(_ device: DeviceLease, _ handles: [String], now: Timestamp) throws -> Timestamp? {
        if handles.isEmpty { return nil }
        let holders = try all(
            """
            SELECT 0, i.id, i.new_handle_at FROM \(table: handles, as: "asked")
            JOIN installations AS i ON i.handle = asked.value
            UNION ALL
            SELECT 1, r.id, r.new_handle_at FROM \(table: handles, as: "asked")
            JOIN registrations AS r ON r.handle = asked.value
            """
        ) { row in (kind: try row() as DeviceLease.Kind, id: try row() as String, waiting: try row() as Timestamp?) }
        if holders.contains(where: { $0.waiting == nil }) { return nil }
        return holders.first { $0.kind == device.kind && $0.id.equalsIgnoringASCIICase(device.id) }?.waiting ?? now
    }
}
