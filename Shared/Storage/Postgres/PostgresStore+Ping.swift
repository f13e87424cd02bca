import Postgres
import SecurePushCore

extension PostgresStore: Store {
    func ping(timeout: Duration) async throws {
        try requireConnection()
        let isReadOnly = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                let result = try await self.query(.isReadOnly, PostgresParameters())
                return try decoding { try result.first?.decode(0) ?? true }
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw StorageError(.timeout, "No answer from the database within \(timeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? true
        }
        if isReadOnly { throw StorageError(.unavailable, "The database is read-only.") }
    }
}

extension PostgresStatement {
    /// True on a standby, and where the database is set read-only.
    fileprivate static let isReadOnly = PostgresStatement("SELECT current_setting('transaction_read_only')::bool")
}
