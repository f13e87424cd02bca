import Synchronization

/// The settings that each new session makes, so that the defaults of a server, a database or a role change nothing.
///
/// Left to the operator: `default_transaction_read_only`, with which a database is closed for writing;
/// `synchronous_commit`, which decides where a commit must be durable; memory, logging, and keep-alives.
struct PostgresSession: Sendable {
    /// Everything that this program relies on, and the value that it relies on. A server that does not know a setting,
    /// because it is older, has no use for it.
    ///
    /// Values travel in PostgreSQL's binary format, so most formats only matter where SQL makes text of a value.
    static let settings: [String: String] = [
        // Each statement is its own transaction, and expects to see what others committed while it waited for a lock.
        "default_transaction_isolation": "read committed",
        "default_transaction_deferrable": "off",
        // The time limit of a statement is ours; see `PostgresConfiguration.statementTimeout`.
        "lock_timeout": "0",
        "transaction_timeout": "0",
        "idle_in_transaction_session_timeout": "0",
        // A pool keeps its connections open while there is nothing to do.
        "idle_session_timeout": "0",
        "search_path": #""$user", public"#,
        "row_security": "on",
        "standard_conforming_strings": "on",
        "transform_null_equals": "off",
        "array_nulls": "on",
        "TimeZone": "UTC",
        "DateStyle": "ISO, MDY",
        "IntervalStyle": "postgres",
        "bytea_output": "hex",
        // Statements find rows by key. Without these they would read whole tables.
        "enable_indexscan": "on",
        "enable_indexonlyscan": "on",
        "enable_nestloop": "on",
    ]

    /// When the server cancels a statement; `nil` for never.
    let statementTimeout: Duration?
    let settings: [String: String]

    private var timeoutMilliseconds: Int64 {
        let (seconds, attoseconds) = (statementTimeout ?? .zero).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// The time limit comes first, so that the server's own does not end the statement that sets the others.
    var setTimeout: PostgresStatement {
        PostgresStatement("SET statement_timeout TO \(timeoutMilliseconds)", isPrepared: false)
    }

    /// Sets those that the server knows, and tells whether the session can write.
    static let apply = PostgresStatement(
        """
        SELECT count(set_config(known.name, wanted.value, false)), current_setting('transaction_read_only')::boolean
        FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
        JOIN pg_catalog.pg_settings AS known ON lower(known.name) = lower(wanted.name)
        """, isPrepared: false)

    /// With the time limit once more: a server's own of a millisecond may have ended the statement that sets it.
    var parameters: PostgresParameters {
        let limit = ["statement_timeout": "\(timeoutMilliseconds)"]
        let sorted = settings.merging(limit) { $1 }.sorted { $0.key < $1.key }
        var parameters = PostgresParameters()
        parameters.append(sorted) { $0.key }
        parameters.append(sorted) { $0.value }
        return parameters
    }
}

extension PostgresConnection {
    /// Makes a session of a connection that libpq has opened; only then it counts as connected.
    func beginSession(_ handle: ConnectionHandle, _ connecting: Connecting) {
        if let encoding = handle.serverEncoding, encoding != "UTF8" { return disconnect(.wrongEncoding(encoding)) }
        phase = .connected(handle)
        let session = configuration.session
        let (timeout, settings) = (session.setTimeout, session.parameters)
        // The second is not executed if the first one fails the connection; if it only fails, the second sets all.
        status.inFlight.add(2, ordering: .relaxed)
        send(WaitingQuery(statement: timeout, parameters: PostgresParameters()) { _ in }, deadline: connecting.deadline)
        send(
            WaitingQuery(statement: PostgresSession.apply, parameters: settings) { result in
                self.assumeIsolated { $0.sessionBegan(result, connecting.promise) }
            }, deadline: connecting.deadline)
    }

    private func sessionBegan(_ result: Result<PostgresResult, PostgresError>, _ promise: QueryPromise<Void>) {
        do {
            // First, because it says why the connection has ended.
            let result = try result.get()
            guard case .connected = phase else { throw PostgresError.notConnected }
            if try result.first?.decode(1, as: Bool.self) != false { throw PostgresError.readOnly }
            status.isConnected.store(true, ordering: .relaxed)
            promise.fulfil(.success(()))
        } catch {
            let error = error as? PostgresError ?? .notConnected
            promise.fulfil(.failure(PostgresError(.unavailable, sqlState: error.sqlState, error.message)))
            disconnect(error)
        }
    }
}

extension PostgresError {
    static let readOnly = PostgresError(.unavailable, sqlState: "25006", "The database is read-only.")

    /// Why a connection is closed whose session turned out to be read-only: it stays so even when its database can be
    /// written to again, and a new one does not.
    static let lostAsReadOnly = PostgresError(.connectionLost, sqlState: readOnly.sqlState, readOnly.message)

    /// Whether the database cannot be written to: it is a standby, or set to read-only.
    package var isReadOnly: Bool { sqlState == "25006" }

    /// Other encodings cannot hold every text, or hold bytes that are no text.
    static func wrongEncoding(_ encoding: String) -> PostgresError {
        PostgresError(
            .invalid,
            "The database has the encoding \(encoding), and must have UTF8. "
                + "Make another one: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0.")
    }
}
