import SecurePushCore

/// Reopens notifications in a database: reads the records, decides, and writes the result only if the record has not
/// changed since, because a dispatcher may be working on it.
enum NotificationReplay {
    /// A record with the columns that show whether it has changed.
    struct Row: Sendable {
        var record: NotificationRecord
        var attempt: Int
        /// The stored text.
        var deliveries: String?
    }

    /// The rows by ID. A row that cannot be read does not prevent the others from being reopened.
    typealias Rows = [NotificationID: Result<Row, StorageError>]

    /// One write: a new attempt with these deliveries, if the record has not changed since it was read.
    struct Change: Sendable {
        var id: NotificationID
        var attempt: Int
        var old: String?
        var new: String
    }

    /// How often a record that a dispatcher keeps changing is read again.
    private static var maxRounds: Int { 20 }

    /// - Parameters:
    ///   - decide: returns the decision for a record, and its new deliveries.
    ///   - read: returns the rows of these IDs.
    ///   - write: returns the IDs whose records were written.
    static func run(
        _ ids: [NotificationID], decide: (NotificationRecord) -> (result: ReplayDecision, deliveries: [Delivery]),
        read: ([NotificationID]) async throws -> Rows, write: ([Change]) async throws -> Set<NotificationID>
    ) async throws -> [NotificationID: ReplayDecision] {
        var results: [NotificationID: ReplayDecision] = [:]
        var missing = ids
        for _ in 0..<maxRounds where !missing.isEmpty {
            var changes: [Change] = []
            for (id, row) in try await read(missing) {
                guard case .success(let row) = row else {
                    results[id] = .unreadable
                    continue
                }
                let (result, deliveries) = decide(row.record)
                results[id] = result
                guard case .owed = result else { continue }
                let new = StorageCoding.encode(deliveries)
                changes.append(Change(id: id, attempt: row.attempt, old: row.deliveries, new: new))
            }
            if changes.isEmpty { return results }
            let written = try await write(changes)
            missing = changes.map(\.id).filter { !written.contains($0) }
            for id in missing { results[id] = nil }
        }
        guard missing.isEmpty else {
            throw StorageError(.timeout, "\(missing.count) records kept changing. Try again.")
        }
        return results
    }
}
