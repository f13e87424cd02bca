import Domain
package import Foundations

/// A send that is due later.
package struct HubSchedule: Sendable, Hashable {
    package var id: String
    /// The key of its hub.
    package var hub: String
    package var dueAt: Timestamp
    /// What the hub alone interprets.
    package var request: [UInt8]

    package init(id: String, hub: String, dueAt: Timestamp, request: [UInt8]) {
        self.id = id
        self.hub = hub
        self.dueAt = dueAt
        self.request = request
    }
}

extension HubTables {
    /// How long a process has for the delivery of a scheduled send before another one does it.
    package static let scheduleLease = Duration.seconds(60)

    package func add(_ schedule: HubSchedule) async throws {
        try await store.run(
            """
            INSERT INTO hub_schedules (id, hub, due_at, request)
            VALUES (\(schedule.id), \(schedule.hub), \(schedule.dueAt), \(schedule.request))
            """)
    }

    /// How many sends are scheduled.
    package func scheduleCount() async throws -> Int {
        try await store.first("SELECT count(*) FROM hub_schedules") ?? 0
    }

    /// - Returns: whether the hub had such a send.
    package func removeSchedule(_ id: String, hub: String) async throws -> Bool {
        try await store.run("DELETE FROM hub_schedules WHERE id = \(id) AND hub = \(hub)") > 0
    }

    /// The sends that are due, the earliest first. Until ``scheduleLease`` has passed, no other call has them; before,
    /// the caller removes each that it has delivered.
    package func leaseDueSchedules(limit: Int, now: Timestamp) async throws -> [HubSchedule] {
        try await store.write(weight: limit) { db in
            let due = try db.all(
                """
                SELECT id, hub, due_at, request FROM hub_schedules WHERE due_at <= \(now)
                ORDER BY due_at LIMIT \(limit) \(.skipLocked)
                """
            ) { row in HubSchedule(id: try row(), hub: try row(), dueAt: try row(), request: try row()) }
            if due.isEmpty { return due }
            let ids = due.map(\.id)
            try db.run("UPDATE hub_schedules SET due_at = \(now + Self.scheduleLease) WHERE id \(in: ids)")
            return due
        }
    }

    /// When the next send is due; `nil` without one.
    package func nextSchedule() async throws -> Timestamp? {
        try await store.first("SELECT due_at FROM hub_schedules WHERE due_at > 0 ORDER BY due_at LIMIT 1")
    }
}
