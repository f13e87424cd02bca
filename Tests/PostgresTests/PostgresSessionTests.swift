import Logging
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// The defaults of a server, a database or a role must change nothing for a session.
@Suite(.timeLimit(.minutes(5))) struct PostgresSessionTests {
    /// A value of each setting that differs from ours. The server of the tests does not know all of them.
    static let odd = [
        "default_transaction_isolation": "serializable", "default_transaction_deferrable": "on",
        "statement_timeout": "2s", "lock_timeout": "1ms", "idle_in_transaction_session_timeout": "1ms",
        "idle_session_timeout": "10s", "transaction_timeout": "10s", "search_path": "nowhere", "row_security": "off",
        "standard_conforming_strings": "off", "transform_null_equals": "on", "array_nulls": "off",
        "TimeZone": "Asia/Kathmandu", "DateStyle": "German, DMY", "IntervalStyle": "iso_8601",
        "bytea_output": "escape", "enable_indexscan": "off", "enable_indexonlyscan": "off", "enable_nestloop": "off",
        "client_encoding": "LATIN1",
    ]

    @Test func `Every setting has an odd value in this test`() {
        let known = Set(PostgresSession.settings.keys).union(["statement_timeout", "client_encoding"])
        #expect(Set(Self.odd.keys) == known)
    }

    @Test(arguments: ["DATABASE", "ROLE"])
    func `What a database or a role sets is set back`(_ scope: String) async throws {
        try await withPostgresDatabase { url in
            try await withConnection(to: url) { admin in
                for (name, value) in Self.odd {
                    let isKnown = PostgresStatement("SELECT 1 FROM pg_settings WHERE name = '\(name)'")
                    if try await admin.query(isKnown).isEmpty { continue }
                    let subject = scope == "DATABASE" ? "DATABASE %1$I" : "ROLE %2$I IN DATABASE %1$I"
                    let change =
                        "format('ALTER \(subject) SET \(name) TO ''\(value)''', current_database(), current_user)"
                    try await admin.execute(["DO $$ BEGIN EXECUTE \(change); END $$"])
                }
            }
            try await withConnection(to: url) { connection in
                var expected = PostgresSession.settings
                expected["statement_timeout"] = "10s"
                expected["client_encoding"] = "UTF8"
                let show = PostgresStatement("SELECT current_setting($1, true)")
                for (name, value) in expected {
                    var parameters = PostgresParameters()
                    parameters.append(name)
                    let row = try await connection.query(show, parameters).first
                    let now = try row?.decodeIfPresent(0, as: String.self)
                    #expect(now == nil || now == value, "\(name)")
                }
            }
        }
    }

    /// With a server's own limit of a millisecond, the statement before may have been cancelled.
    @Test func `The statement that sets the others sets the time limit too`() async throws {
        try await withConnection { connection in
            let session = PostgresSession(statementTimeout: .seconds(7), settings: [:])
            _ = try await connection.query(PostgresSession.apply, session.parameters)
            let show = PostgresStatement("SELECT current_setting('statement_timeout')")
            let row = try await connection.query(show).first
            #expect(try row?.decode(0, as: String.self) == "7s")
        }
    }

    @Test(arguments: ["-c%20search_path%3Dmine", "-c%20Search_Path%3D%22mine%22", "--search-path%3Dmine"])
    func `A URI may name the schemas`(_ option: String) async throws {
        let url = try TestEnvironment.databaseURL + "?options=\(option)"
        try await withConnection(to: url) { connection in
            let row = try await connection.query(PostgresStatement("SELECT current_setting('search_path')")).first
            let path = try row?.decode(0, as: String.self)
            #expect(path?.contains("mine") == true)
        }
    }

    @Test(arguments: ["LATIN1", "SQL_ASCII", "WIN1252", "EUC_JP"])
    func `A database with another encoding is refused`(_ encoding: String) async throws {
        try await withPostgresDatabase(options: "ENCODING '\(encoding)' TEMPLATE template0 LOCALE 'C'") { url in
            let error = await postgresError { try await withConnection(to: url) { _ in } }
            #expect(error?.code == .invalid)
            #expect(error?.message.contains(encoding) == true && error?.message.contains("UTF8") == true)
        }
    }

    @Test(arguments: ["CREATE TABLE t (a int)", "CREATE SCHEMA s"])
    func `A session that becomes read-only is closed`(_ write: String) async throws {
        try await withConnection { connection in
            try await connection.execute(["SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SELECT 1"])
            #expect(connection.isConnected)
            let error = await postgresError { try await connection.execute([write]) }
            #expect(error?.isReadOnly == true)
            #expect(!connection.isConnected)
            #expect(try await connection.waitUntilLost().code == .unavailable)
        }
    }

    @Test func `Of several hosts the one that can be written to is used`() async throws {
        try await withPostgresServer { server in
            try await withConnection(to: server.adminURL) { admin in
                try await admin.execute(["ALTER DATABASE securepush SET default_transaction_read_only TO on"])
            }
            #expect(await postgresError { try await withConnection(to: server.url) { _ in } }?.isReadOnly == true)
            let writable = try #require(try TestEnvironment.databaseURL.split(separator: "@").last)
            let both = "postgres://securepush@127.0.0.1:\(server.port),\(writable)"
            try await withConnection(to: both) { connection in
                let port = try await connection.query(PostgresStatement("SELECT current_setting('port')")).first
                #expect(try port?.decode(0, as: String.self) != String(server.port))
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct PostgresReconnectTests {
    @Test func `A database that was read-only for a while is used again`() async throws {
        try await withPostgresDatabase { url in
            try await withClient(of: url, connections: 2) { client in
                try await setReadOnly(true, url)
                try await expectEventually { !client.isConnected && client.failure?.isReadOnly == true }
                // Nobody can write now, and a session that began before tells so.
                let error = await postgresError { _ = try await client.query(PostgresStatement("SELECT 1")) }
                #expect(error?.code == .unavailable)
                try await setReadOnly(false, url)
                try await expectEventually { client.isConnected }
                #expect(client.failure == nil)
                _ = try await client.query(PostgresStatement("CREATE TABLE t (a int)"))
            }
        }
    }

    /// As behind a pooler whose server is down: it accepts a connection, and drops it.
    @Test func `Connections that end at once are made less and less often, and warned of once`() async throws {
        try await withPostgresDatabase { url in
            let log = WarningCounter()
            let client = try PostgresClient(
                configuration: PostgresConfiguration(uri: url), connections: 1, logger: log.logger)
            let count = PostgresStatement(
                """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = '\(url.split(separator: "/").last ?? "")' AND application_name = 'securepush'
                """)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await client.run() }
                try await expectEventually { client.isConnected }
                var ended: Int64 = 0
                try await withConnection { admin in
                    let end = ContinuousClock.now + .seconds(6)
                    while ContinuousClock.now < end {
                        ended += try await admin.query(count).first?.decode(0, as: Int64.self) ?? 0
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
                // Without back-off there are more than fifty; the waits grow to five seconds.
                #expect((1...25).contains(ended), "\(ended) connections")
                #expect(log.count <= 5, "\(log.count) warnings")
                try await expectEventually { client.isConnected }
                group.cancelAll()
            }
        }
    }
}

/// Changes the default of a database for its sessions to be read-only, and ends those that it has.
private func setReadOnly(_ isReadOnly: Bool, _ url: String) async throws {
    let name = url.split(separator: "/").last ?? ""
    try await withConnection { admin in
        try await admin.execute([
            "ALTER DATABASE \(name) \(isReadOnly ? "SET" : "RESET") default_transaction_read_only"
                + (isReadOnly ? " TO on" : ""),
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'",
        ])
    }
}

/// Counts the warnings of a logger.
private final class WarningCounter: Sendable {
    private struct Handler: LogHandler {
        let counter: WarningCounter
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if event.level >= .warning { counter.warnings.add(1, ordering: .relaxed) }
        }
    }

    private let warnings = Atomic(0)

    var count: Int { warnings.load(ordering: .relaxed) }
    var logger: Logger { Logger(label: "test") { _ in Handler(counter: self) } }
}
