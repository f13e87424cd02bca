import SecurePushCore

/// Reopens notifications in a database: reads what is on record, decides, and writes it only where the record is still
/// the one that was read, since a dispatcher may be at work on it.
enum NotificationReplay {
    /// A record with what tells whether it has changed.
    struct Row: Sendable {
        var record: NotificationRecord
        var attempt: Int
        /// As they are stored.
        var deliveries: String?
    }

    /// What was read, by ID; a row that cannot be read keeps no other from being reopened.
    typealias Rows = [NotificationID: Result<Row, StorageError>]

    /// One write: the next attempt, with these deliveries, if the record is still the one that was read.
    struct Change: Sendable {
        var id: NotificationID
        var attempt: Int
        var old: String?
        var new: String
    }

    /// How often a record that a dispatcher keeps changing is read again.
    private static var maximumRounds: Int { 20 }

    /// - Parameters:
    ///   - decide: what becomes of a record, and its deliveries then.
    ///   - write: returns the IDs whose records were written.
    static func run(
        _ ids: [NotificationID], decide: (NotificationRecord) -> (result: ReplayDecision, deliveries: [Delivery]),
        read: ([NotificationID]) async throws -> Rows, write: ([Change]) async throws -> Set<NotificationID>
    ) async throws -> [NotificationID: ReplayDecision] {
        var results: [NotificationID: ReplayDecision] = [:]
        var missing = ids
        for _ in 0..<maximumRounds where !missing.isEmpty {
            var changes: [Change] = []
            for (id, row) in try await read(missing) {
                guard case .success(let row) = row else {
                    results[id] = .unreadable
                    continue
                }
                let (result, deliveries) = decide(row.record)
                results[id] = result
                guard case .owed = result else { continue }
                let new = DeliveriesCoding.encode(deliveries)
                changes.append(Change(id: id, attempt: row.attempt, old: row.deliveries, new: new))
            }
            if changes.isEmpty { return results }
            let written = try await write(changes)
            missing = changes.map(\.id).filter { !written.contains($0) }
            for id in missing { results[id] = nil }
        }
        guard missing.isEmpty else {
            throw StorageError(.timeout, "\(missing.count) records were changed all the while; try again.")
        }
        return results
    }
}
