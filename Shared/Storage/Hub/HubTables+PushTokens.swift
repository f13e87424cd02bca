package import Domain
package import Foundations

extension HubSchema {
    /// A row for each key that signs tokens.
    static let pushTokens: [SQL] = [
        """
        CREATE TABLE hub_push_tokens (
            key \(.text) PRIMARY KEY NOT NULL,
            issued_at \(.integer) NOT NULL,
            sealed \(.bytes) NOT NULL
        ) \(.table)
        """
    ]
}

extension HubTables {
    /// Tokens of keys that are no longer used are removed after this time.
    private static let maxTokenAge = Duration.seconds(7 * 86_400)

    /// The token of a key, and the time of the database, which is the only clock that processes on several machines
    /// share.
    package func pushToken(of key: String) async throws -> (token: SharedPushToken?, now: Timestamp) {
        let found = try await store.first(
            """
            SELECT \(.clock), t.issued_at, t.sealed FROM (SELECT 1 AS one) AS o
            LEFT JOIN hub_push_tokens AS t ON t.key = \(key)
            """
        ) { row in
            let (now, issuedAt, sealed): (Timestamp, Timestamp?, [UInt8]?) = (try row(), try row(), try row())
            return (token: SharedPushToken(issuedAt, sealed), now: now)
        }
        guard let found else { throw StorageError(.failed, "The database has not told its time.") }
        return found
    }

    /// Stores a token in place of the one that was read; another process may have been faster.
    ///
    /// - Parameter issuedAt: that of the token that was read; `nil` if there was none.
    /// - Returns: the token that is stored now.
    package func replacePushToken(
        issuedAt: Timestamp?, by token: SharedPushToken, of key: String
    ) async throws -> SharedPushToken {
        try await store.write { db in
            try db.run(
                """
                INSERT INTO hub_push_tokens (key, issued_at, sealed) VALUES (\(key), \(token.issuedAt), \(token.sealed))
                ON CONFLICT (key) DO UPDATE SET issued_at = excluded.issued_at, sealed = excluded.sealed
                WHERE hub_push_tokens.issued_at = \(issuedAt)
                """)
            try db.run("DELETE FROM hub_push_tokens WHERE issued_at < \(token.issuedAt - Self.maxTokenAge)")
            let stored = try db.first("SELECT issued_at, sealed FROM hub_push_tokens WHERE key = \(key)") { row in
                SharedPushToken(issuedAt: try row(), sealed: try row())
            }
            return stored ?? token
        }
    }
}

extension SharedPushToken {
    fileprivate init?(_ issuedAt: Timestamp?, _ sealed: [UInt8]?) {
        guard let issuedAt, let sealed else { return nil }
        self.init(issuedAt: issuedAt, sealed: sealed)
    }
}

extension SQLWord {
    /// The database's clock, in milliseconds since the Unix epoch. That of SQLite is the machine's, in whole seconds.
    fileprivate static let clock = SQLWord(
        postgres: "(extract(epoch FROM clock_timestamp()) * 1000)::bigint", sqlite: "unixepoch() * 1000")
}
