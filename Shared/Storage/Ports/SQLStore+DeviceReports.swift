import Domain
import Foundations

extension SQLStore {
    /// One statement: the row of the installation shows whether the device is the user's, and has the platform.
    func report(
        _ report: DeviceReport, of id: NotificationID, by device: String, owner: UserName, now: Timestamp
    ) async throws -> String? {
        let own: SQL = "FROM installations WHERE lower(id) = \(DeviceID.folded(device)) AND owner = \(owner)"
        let stored: [String] = try await change(
            """
            INSERT INTO device_reports (notification_id, device_id, platform, shown_at, is_generic, code, sdk)
            SELECT \(id), id, platform, \(now), \(raw: report.text == .generic ? "1" : "0"), \(report.code),
                \(report.sdk)
            \(own) AND \(ShownDevice.maxStored) > (
                SELECT count(*) FROM device_reports AS other
                WHERE other.notification_id = \(id) AND other.device_id <> installations.id)
            ON CONFLICT (notification_id, device_id) DO UPDATE SET platform = excluded.platform,
                shown_at = excluded.shown_at, is_generic = excluded.is_generic, code = excluded.code,
                sdk = excluded.sdk
            RETURNING platform
            """
        ) { row in try row() }
        if let platform = stored.first { return platform }
        return try await first("SELECT platform \(own)") as String?
    }

    func shownDevices(of id: NotificationID, limit: Int) async throws -> [ShownDevice] {
        try await all(
            """
            SELECT device_id, platform, shown_at, is_generic = 1, code, sdk FROM device_reports
            WHERE notification_id = \(id) ORDER BY shown_at DESC, device_id LIMIT \(max(limit, 0))
            """
        ) { row in
            ShownDevice(
                deviceID: try row(), platform: try row(), shownAt: try row(),
                report: DeviceReport(text: try row() as Bool ? .generic : .secret, code: try row(), sdk: try row()))
        }
    }

    func genericTexts(since: Timestamp) async throws -> [GenericTextCount] {
        try await all(
            """
            SELECT code, sdk, platform, count(DISTINCT notification_id), count(DISTINCT device_id), max(shown_at)
            FROM (
                SELECT code, sdk, platform, notification_id, device_id, shown_at FROM device_reports
                WHERE is_generic = 1 AND shown_at > \(since)
                ORDER BY shown_at DESC LIMIT \(raw: "\(GenericTextCount.maxScan)")
            ) AS newest
            GROUP BY code, sdk, platform ORDER BY 4 DESC, 1, 2, 3 LIMIT \(raw: "\(GenericTextCount.maxGroups)")
            """
        ) { row in
            GenericTextCount(
                code: try row(), sdk: try row(), platform: try row(), notifications: try row(), devices: try row(),
                newest: try row())
        }
    }
}
