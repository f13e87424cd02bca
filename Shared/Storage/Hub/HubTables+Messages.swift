import Domain
package import Foundations

/// The results of messages, and dead devices. Old ones are purged.
extension HubTables {
    /// The most rows that one step of the purge removes of each table.
    private static let purgeLimit = 1000
    /// The most rows of feedback that are read at once.
    package static let feedbackLimit = 10_000

    /// Stores messages, or replaces them.
    package func keep(_ messages: [HubMessage]) async throws {
        // If a message is in the list twice, its newest state is stored.
        let newest = Dictionary(messages.map { ($0.id, $0) }) { $1 }.values.sorted { $0.id < $1.id }
        try await store.insert(SQL.rows(newest), bytes: messages.reduce(0) { $0 + $1.heldBytes })
    }

    package func message(_ id: String, hub: String) async throws -> HubMessage? {
        try await store.first(
            "SELECT \(.messageColumns) FROM hub_messages WHERE id = \(id) AND hub = \(hub)"
        ) { row in try HubMessage(&row) }
    }

    /// Changes the state of a message that is stored.
    package func change(_ id: String, hub: String, state: String, at time: Timestamp) async throws {
        try await store.run(
            """
            UPDATE hub_messages SET state = \(state), completed_at = \(time) WHERE id = \(id) AND hub = \(hub)
            """)
    }

    /// Removes a device that its push service no longer accepts, and notes that for each registration that was removed.
    ///
    /// - Parameters:
    ///   - device: if it has no registration, it is noted in any case, because the send named only its handle.
    ///   - time: registrations that were written at this time or later stay.
    /// - Returns: the number of registrations that were removed.
    package func bury(_ device: HubFeedbackRow, ifUpdatedBefore time: Timestamp) async throws -> Int {
        try await store.write { db in try db.bury(device, before: time) }
    }

    /// Notes what happened at simulated devices, which nobody removes.
    package func note(_ feedback: [HubFeedbackRow]) async throws {
        if feedback.isEmpty { return }
        try await store.write(weight: feedback.count) { db in try db.run(each: feedback.map(SQL.insert)) }
    }

    /// The newest feedback of a hub, at most ``feedbackLimit`` entries, the oldest first.
    package func feedback(hub: String) async throws -> [HubFeedbackRow] {
        try await store.all(
            """
            SELECT hub, noted_at, error, platform, handle, registration_id, installation_id, message_id
            FROM hub_feedback WHERE hub = \(hub) ORDER BY sequence DESC LIMIT \(Self.feedbackLimit)
            """
        ) { row in
            HubFeedbackRow(
                hub: try row(), notedAt: try row(), error: try row(), platform: try row(), handle: try row(),
                registrationID: try row(), installationID: try row(), messageID: try row())
        }.reversed()
    }

    /// Removes messages whose time has come, feedback from before a time, and scheduled sends that were set aside
    /// before it, some of each. Several processes can purge at once, and do not wait for each other.
    ///
    /// - Returns: whether there may be more.
    package func purgeDeliveries(now: Timestamp, feedbackBefore time: Timestamp) async throws -> Bool {
        let limit = Self.purgeLimit
        let messages = try await store.run(
            weight: limit,
            """
            DELETE FROM hub_messages WHERE id IN (
                SELECT id FROM hub_messages WHERE purge_at <= \(now) ORDER BY purge_at LIMIT \(limit) \(.skipLocked))
            """)
        let feedback = try await store.run(
            weight: limit,
            """
            DELETE FROM hub_feedback WHERE sequence IN (
                SELECT sequence FROM hub_feedback WHERE noted_at < \(time) ORDER BY noted_at LIMIT \(limit)
                \(.skipLocked))
            """)
        let schedules = try await store.run(
            weight: limit,
            """
            DELETE FROM hub_schedules WHERE id IN (
                SELECT id FROM hub_schedules WHERE set_aside_at < \(time) ORDER BY set_aside_at LIMIT \(limit)
                \(.skipLocked))
            """)
        return messages == limit || feedback == limit || schedules == limit
    }

    /// Removes the messages, pushes and so on of a deleted hub.
    package func removeDeliveries(hub: String) async throws {
        try await store.write { db in
            try db.run(each: [
                "DELETE FROM hub_feedback WHERE hub = \(hub)",
                "DELETE FROM hub_suspensions WHERE lane >= \(hub + "/") AND lane < \(hub + "0")",
                """
                DELETE FROM hub_pushes WHERE id IN (
                    SELECT p.id FROM hub_pushes AS p WHERE p.lane >= \(hub + "/") AND p.lane < \(hub + "0")
                    \(.lockPushes))
                """,
            ])
        }
    }
}

extension SQLTransaction {
    /// See ``HubTables/bury(_:ifUpdatedBefore:)``.
    func bury(_ device: HubFeedbackRow, before time: Timestamp) throws -> Int {
        let removed = try remove(handle: device.handle, hub: device.hub, before: time)
        var notes = removed.map { registration in
            var note = device
            (note.registrationID, note.installationID) = (registration.id, registration.installationID)
            return note
        }
        if notes.isEmpty, device.registrationID == nil { notes = [device] }
        try run(each: notes.map(SQL.insert))
        return removed.count
    }
}

/// A device that a push service has given up.
package struct HubFeedbackRow: Sendable, Hashable {
    package var hub: String
    package var notedAt: Timestamp
    /// The outcome, such as `ExpiredChannel`.
    package var error: String
    package var platform: String
    package var handle: String
    package var registrationID: String?
    package var installationID: String?
    package var messageID: String

    package init(
        hub: String, notedAt: Timestamp, error: String, platform: String, handle: String, registrationID: String? = nil,
        installationID: String? = nil, messageID: String
    ) {
        self.hub = hub
        self.notedAt = notedAt
        self.error = error
        self.platform = platform
        self.handle = handle
        self.registrationID = registrationID
        self.installationID = installationID
        self.messageID = messageID
    }
}

extension HubMessage {
    /// The approximate memory, in bytes.
    var heldBytes: Int { 512 + body.count + (tags?.utf8.count ?? 0) }

    init(_ row: inout SQLRow) throws {
        self.init(
            id: try row(), hub: try row(), state: try row(), enqueuedAt: try row(), completedAt: try row(),
            tags: try row(), outcomes: try row.map(Self.decode), body: try row(), purgeAt: try row())
    }
}

extension SQL {
    fileprivate static func insert(_ feedback: HubFeedbackRow) -> SQL {
        """
        INSERT INTO hub_feedback (
            hub, noted_at, error, platform, handle, registration_id, installation_id, message_id
        ) VALUES (
            \(feedback.hub), \(feedback.notedAt), \(feedback.error), \(feedback.platform), \(feedback.handle),
            \(feedback.registrationID), \(feedback.installationID), \(feedback.messageID))
        """
    }

    static let messageColumns: SQL = "\(raw: messageRows.names)"

    private static let messageRows = SQLRows(
        into: "hub_messages",
        [
            ("id", .text), ("hub", .text), ("state", .text), ("enqueued_at", .integer), ("completed_at", .integer),
            ("tags", .text), ("outcomes", .text), ("body", .bytes), ("purge_at", .integer),
        ],
        conflict: """
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, completed_at = excluded.completed_at,
                outcomes = excluded.outcomes, purge_at = excluded.purge_at
            """)

    fileprivate static func rows(_ messages: [HubMessage]) -> SQLRows {
        var rows = messageRows
        for message in messages {
            rows.append([
                .text(message.id), .text(message.hub), .text(message.state), message.enqueuedAt.sqlValue,
                message.completedAt?.sqlValue ?? .null, message.tags.map(SQLValue.text) ?? .null,
                .text(HubMessage.encode(message.outcomes)), .bytes(message.body), message.purgeAt.sqlValue,
            ])
        }
        return rows
    }

    static func save(_ message: HubMessage) -> [SQL] { rows([message]).statements }
}
