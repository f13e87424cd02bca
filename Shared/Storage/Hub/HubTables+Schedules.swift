import Domain
package import Foundations

/// A send that is due later.
package struct HubSchedule: Sendable, Hashable {
    package var id: String
    /// The key of its hub.
    package var hub: String
    package var dueAt: Timestamp
    /// Only the hub interprets it.
    package var request: [UInt8]
    /// The registrations up to this place have their pushes; 0: none has.
    package var place: Int64

    package init(id: String, hub: String, dueAt: Timestamp, request: [UInt8], place: Int64 = 0) {
        self.id = id
        self.hub = hub
        self.dueAt = dueAt
        self.request = request
        self.place = place
    }
}

extension HubTables {
    /// How long a process has for a page of a scheduled send, before another process may continue the send.
    package static let scheduleLease = Duration.seconds(60)

    package func add(_ schedule: HubSchedule) async throws {
        try await store.run(
            """
            INSERT INTO hub_schedules (id, hub, due_at, request, place)
            VALUES (\(schedule.id), \(schedule.hub), \(schedule.dueAt), \(schedule.request), \(schedule.place))
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

    /// The sends that are due, the earliest first. No other claim gets them until ``scheduleLease`` has passed. Before
    /// that, the caller must extend the lease of each, or remove it.
    ///
    /// - Parameter claim: identifies this process.
    package func leaseDueSchedules(limit: Int, claim: Int64, now: Timestamp) async throws -> [HubSchedule] {
        try await store.write(weight: limit) { db in
            let due = try db.all(
                """
                SELECT id, hub, due_at, request, place FROM hub_schedules
                WHERE due_at <= \(now) AND set_aside_at IS NULL ORDER BY due_at LIMIT \(limit) \(.skipLocked)
                """
            ) { row in
                HubSchedule(id: try row(), hub: try row(), dueAt: try row(), request: try row(), place: try row())
            }
            if due.isEmpty { return due }
            try db.run(
                """
                UPDATE hub_schedules SET due_at = \(now + Self.scheduleLease), claim = \(claim)
                WHERE id \(in: due.map(\.id))
                """)
            return due
        }
    }

    /// Stores the progress of the delivery of a send, and extends the lease.
    ///
    /// - Parameters:
    ///   - place: the registrations up to it have their pushes.
    ///   - until: when another process may continue the send.
    /// - Returns: `false` if the send was cancelled, or another process has it now.
    package func extendSchedule(_ id: String, claim: Int64, place: Int64, until: Timestamp) async throws -> Bool {
        try await store.run(
            """
            UPDATE hub_schedules SET place = \(place), due_at = \(until)
            WHERE id = \(id) AND claim = \(claim) AND set_aside_at IS NULL
            """) > 0
    }

    /// Ends the lease of a send, so that any process can continue it from a time on.
    package func makeScheduleDue(_ id: String, claim: Int64, at time: Timestamp) async throws {
        try await store.run("UPDATE hub_schedules SET due_at = \(time) WHERE id = \(id) AND claim = \(claim)")
    }

    /// Sets aside a send that cannot be delivered. It is never due, and is kept for inspection until it is purged.
    ///
    /// - Returns: `false` if the send was cancelled, or another process has it now.
    package func setAsideSchedule(_ id: String, claim: Int64, now: Timestamp) async throws -> Bool {
        try await store.run(
            "UPDATE hub_schedules SET set_aside_at = \(now) WHERE id = \(id) AND claim = \(claim)") > 0
    }

    /// When the next send is due; `nil` without one.
    package func nextSchedule() async throws -> Timestamp? {
        try await store.first(
            """
            SELECT due_at FROM hub_schedules WHERE due_at > 0 AND set_aside_at IS NULL ORDER BY due_at LIMIT 1
            """)
    }
}
