import Domain
package import Foundations

/// A hub as it is stored.
package struct HubRow: Sendable, Hashable {
    /// As first written.
    package var name: String
    /// `nil`: created by use.
    package var description: [UInt8]?
    package var isDeleted = false

    package init(name: String, description: [UInt8]? = nil) {
        self.name = name
        self.description = description
    }

    package var key: String { name.lowercased() }
}

/// How many devices of a platform have registered last in a span of time.
package struct HubDeviceCount: Sendable, Hashable {
    package let format: String
    /// The span: less than this many days ago, and not less than the next shorter span; `nil`: longer ago.
    package let days: Int?
    package let count: Int

    /// The spans of days.
    package static let spans = [1, 7, 30, 90]
}

extension HubTables {
    /// All hubs, and the newest of those that were deleted.
    package func hubs() async throws -> [HubRow] {
        try await store.all("SELECT name, description, deleted_at FROM hub_hubs") { row in
            var hub = HubRow(name: try row(), description: try row())
            hub.isDeleted = try row() as Timestamp? != nil
            return hub
        }
    }

    /// Creates a hub, or changes its name's case and its description. Without a description a hub that exists stays as
    /// it is.
    package func save(_ hub: HubRow) async throws {
        try await store.run(
            """
            INSERT INTO hub_hubs (hub, name, description) VALUES (\(hub.key), \(hub.name), \(hub.description))
            ON CONFLICT (hub) DO UPDATE SET name = excluded.name, description = excluded.description, deleted_at = NULL
            WHERE excluded.description IS NOT NULL
            """)
    }

    /// Removes a hub and all its rows, in steps. Its name stays marked as deleted, as long as it is one of the 10,000
    /// newest of these.
    ///
    /// - Parameter name: of a hub that exists or not.
    /// - Parameter removed: gets the registrations of each step.
    package func removeHub(
        _ name: String, now: Timestamp = .now, removed: @Sendable ([HubRegistrationRow]) -> Void
    ) async throws {
        let hub = name.lowercased()
        try await store.run(
            """
            INSERT INTO hub_hubs (hub, name, deleted_at) VALUES (\(hub), \(name), \(now))
            ON CONFLICT (hub) DO UPDATE SET description = NULL, deleted_at = excluded.deleted_at
            """)
        try await store.run(
            """
            DELETE FROM hub_hubs WHERE deleted_at < (
                SELECT deleted_at FROM hub_hubs WHERE deleted_at IS NOT NULL
                ORDER BY deleted_at DESC LIMIT 1 OFFSET \(Self.maxDeletedHubs)
            )
            """)
        try await store.run("DELETE FROM hub_schedules WHERE hub = \(hub)")
        try await store.run("DELETE FROM hub_retired_ids WHERE hub = \(hub)")
        try await store.run("DELETE FROM hub_imports WHERE hub = \(hub)")
        while true {
            let step = try await store.write(weight: Self.pageSize) { db in
                let found = try db.all(
                    """
                    SELECT \(.registrationColumns) FROM hub_registrations AS r WHERE r.hub = \(hub)
                    LIMIT \(Self.pageSize)
                    """
                ) { try HubRegistrationRow(&$0) }
                // Each installation has registrations, some of which may be beyond this step's.
                return try db.removeInstallations(
                    Set(found.compactMap(\.installationID)), hub: hub, and: found.map(\.sequence))
            }
            removed(step)
            if step.count < Self.pageSize { return }
        }
    }

    /// Counts the devices of a hub, by the time of their last registration. Reads all of them.
    package func deviceCounts(hub: String, now: Timestamp = .now) async throws -> [HubDeviceCount] {
        let starts = HubDeviceCount.spans.map { now - .seconds($0 * 86_400) }
        let ages = zip(HubDeviceCount.spans, starts).map { days, start in
            " WHEN updated_at > \(start) THEN \(Int64(days))" as SQL
        }
        return try await store.all(
            """
            SELECT format, days, count(*) FROM (
                SELECT format, CASE\(ages.reduce("", +)) END AS days FROM hub_registrations
                WHERE hub = \(hub) AND NOT is_template
            ) AS devices GROUP BY format, days
            """
        ) { row in HubDeviceCount(format: try row(), days: try row() as Int?, count: try row()) }
        .sorted { ($0.format, $0.days ?? .max) < ($1.format, $1.days ?? .max) }
    }

    private static let maxDeletedHubs = 10_000
}
