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
    /// The settings in the `options` of the URI.
    var options: SessionOptions?

    private var timeoutMilliseconds: Int64 {
        let (seconds, attoseconds) = (statementTimeout ?? .zero).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// The time limit comes first, so that the server's own does not end the statement that sets the others.
    var setTimeout: PostgresStatement {
        PostgresStatement("SET statement_timeout TO \(timeoutMilliseconds)", isPrepared: false)
    }

    /// Sets the parameters that the URI names. Unlike ``apply`` it fails for a setting that the server does not know.
    var setOptions: WaitingStatement? {
        guard let options, !options.names.isEmpty else { return nil }
        var parameters = PostgresParameters()
        parameters.append(options.names) { $0 }
        parameters.append(options.values) { $0 }
        let sql =
            "SELECT count(set_config(name, value, false)) FROM unnest($1::text[], $2::text[]) AS given (name, value)"
        return (PostgresStatement(sql, isPrepared: false), parameters)
    }

    typealias WaitingStatement = (statement: PostgresStatement, parameters: PostgresParameters)

    /// Sets those that the server knows. It tells whether the session can write, the ID of its process, and whether the
    /// session of another client has marked it (``mark``).
    static let apply = PostgresStatement(
        """
        SELECT count(set_config(known.name, wanted.value, false)), current_setting('transaction_read_only')::boolean,
            pg_backend_pid(), coalesce(current_setting('securepush.session', true), '') <> ''
        FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
        JOIN pg_catalog.pg_settings AS known ON lower(known.name) = lower(wanted.name)
        """, isPrepared: false)

    /// Marks a session behind a pooler. Each client of a pooler in session mode gets a session that is like new; in
    /// transaction mode clients share them, and a later one finds the mark.
    static let mark = PostgresStatement("SELECT set_config('securepush.session', 'begun', false)", isPrepared: false)

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
        // If the first statement breaks the connection, the others are not executed; if it only fails, the last one
        // sets all.
        begin(session.setTimeout, PostgresParameters(), connecting) { _, _ in }
        if let (statement, parameters) = session.setOptions {
            begin(statement, parameters, connecting) { connection, result in
                if case .failure(let error) = result { connection.sessionFailed(error, connecting.promise) }
            }
        }
        begin(PostgresSession.apply, session.parameters, connecting) { connection, result in
            connection.sessionBegan(result, connecting)
        }
    }

    /// Sends a statement before the connection counts as connected.
    private func begin(
        _ statement: PostgresStatement, _ parameters: PostgresParameters, _ connecting: Connecting,
        then completion:
            @escaping @Sendable (
                isolated PostgresConnection, Result<PostgresResult, PostgresError>
            ) -> Void
    ) {
        status.inFlight.add(1, ordering: .relaxed)
        send(
            WaitingQuery(statement: statement, parameters: parameters) { result in
                self.assumeIsolated { completion($0, result) }
            }, deadline: connecting.deadline)
    }

    private func sessionBegan(_ result: Result<PostgresResult, PostgresError>, _ connecting: Connecting) {
        do {
            // First, because it says why the connection has ended.
            let row = try result.get().first
            guard case .connected(let handle) = phase else { throw PostgresError.notConnected }
            if try row?.decode(1, as: Bool.self) != false { throw PostgresError.readOnly }
            // A pooler tells its client the ID of no process of the server.
            isPooled = try row?.decode(2, as: Int32.self) != handle.serverProcess
            guard isPooled else { return sessionIsReady(connecting.promise) }
            if try row?.decode(3, as: Bool.self) == true { throw PostgresError.sharedSession }
            begin(PostgresSession.mark, PostgresParameters(), connecting) { connection, result in
                switch result {
                case .success: connection.sessionIsReady(connecting.promise)
                case .failure(let error): connection.sessionFailed(error, connecting.promise)
                }
            }
        } catch {
            sessionFailed(error as? PostgresError ?? .notConnected, connecting.promise)
        }
    }

    private func sessionIsReady(_ promise: QueryPromise<Void>) {
        status.isConnected.store(true, ordering: .relaxed)
        promise.fulfil(.success(()))
    }

    private func sessionFailed(_ error: PostgresError, _ promise: QueryPromise<Void>) {
        let code = error.code == .invalid ? error.code : .unavailable
        promise.fulfil(.failure(PostgresError(code, sqlState: error.sqlState, error.message)))
        disconnect(error)
    }
}

extension PostgresError {
    static let readOnly = PostgresError(.unavailable, sqlState: "25006", "The database is read-only.")

    /// Why a connection is closed whose session turned out to be read-only: it stays so even when its database can be
    /// written to again, and a new one does not.
    static let lostAsReadOnly = PostgresError(.connectionLost, sqlState: readOnly.sqlState, readOnly.message)

    /// Whether the database cannot be written to: it is a standby, or set to read-only.
    package var isReadOnly: Bool { sqlState == "25006" }

    /// Sessions have settings, prepared statements and locks, which another client must not meet.
    static let sharedSession = PostgresError(
        .invalid,
        "A connection pooler lets clients share sessions (transaction or statement mode). "
            + "Set its pool_mode to session for this database.")

    /// Other encodings cannot hold every text, or hold bytes that are no text.
    static func wrongEncoding(_ encoding: String) -> PostgresError {
        PostgresError(
            .invalid,
            "The database has the encoding \(encoding), and must have UTF8. "
                + "Make another one: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0.")
    }
}
