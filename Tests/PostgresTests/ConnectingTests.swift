import Postgres
import StackKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectingTests {
    private func connectError(_ uri: String) async throws -> PostgresError? {
        let connection = try PostgresConnection(configuration: PostgresConfiguration(uri: uri))
        let error = await postgresError { try await connection.connect() }
        await connection.close()
        return error
    }

    @Test(arguments: [
        ("postgres://a@127.0.0.1:1/a", "Nothing listens at"), ("postgres://a@host.invalid/a", "host is not known"),
        ("postgres:///a?host=/nowhere", "Nothing listens at"),
    ])
    func `A server that is not there is unavailable`(uri: String, reason: String) async throws {
        let error = try await connectError(uri)
        #expect(error?.code == .unavailable && error?.sqlState == nil)
        #expect(error?.connectionReason?.contains(reason) == true, "\(String(describing: error))")
    }

    @Test func `What a server refuses is told by its SQLSTATE, and without names`() async throws {
        try await withPostgresServer { server in
            let place = "127.0.0.1:\(server.port)"
            for (uri, state, reason) in [
                ("postgres://securepush@\(place)/nodb", "3D000", "no database of this name"),
                ("postgres://norole@\(place)/securepush", "28000", "refuses the role"),
                ("\(server.url)?options=-c%20nonsense%3D1", "42704", "options of DATABASE_URL"),
                ("\(server.url)?sslmode=require", nil, "does not offer TLS"),
                ("postgres://securepush@127.0.0.1:1,\(place)/nodb", "3D000", "no database of this name"),
            ] {
                let error = try #require(try await connectError(uri))
                #expect(error.code == .unavailable && error.sqlState == state, "\(error)")
                let told = try #require(error.connectionReason)
                #expect(told.contains(reason) && !told.contains("nodb") && !told.contains("norole"), "\(told)")
                // The log has the words of the server, once.
                #expect(!error.message.contains("LOCATION") && !error.message.contains("FATAL:  \(state ?? "-")"))
                if state == "3D000" { #expect(error.message.contains("\"nodb\" does not exist")) }
            }
        }
    }

    @Test func `A server that says nothing is given up`() async throws {
        try await withSilentListener { port in
            let start = ContinuousClock.now
            let error = try await connectError("postgres://a@127.0.0.1:\(port)/a?connect_timeout=1&sslmode=disable")
            #expect(error?.code == .unavailable)
            #expect(ContinuousClock.now - start >= .milliseconds(900))
        }
    }

    @Test func `Connecting can be cancelled`() async throws {
        try await withSilentListener { port in
            let uri = "postgres://a@127.0.0.1:\(port)/a?connect_timeout=60&sslmode=disable"
            let connection = try PostgresConnection(configuration: PostgresConfiguration(uri: uri))
            let task = Task { try await connection.connect() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await connection.close()
        }
    }

    @Test func `A wrong password is unavailable and not repeated`() async throws {
        try await withPostgresServer { server in
            try await server.requirePasswords()
            try await withConnection(to: server.adminURL) { admin in
                try await admin.execute([
                    "ALTER ROLE securepush PASSWORD 'right'", "SELECT pg_reload_conf()",
                ])
            }
            let url = server.url
            func with(_ password: String) -> String {
                url.replacing("securepush@", with: "securepush:\(password)@", maxReplacements: 1)
            }
            // The server reads its new rules a moment after it was told to.
            let isRefused = try await eventually { try await connectError(with("wr0ng"))?.code == .unavailable }
            #expect(isRefused)
            let error = try await connectError(with("wr0ng"))
            #expect(error.map { !"\($0)".contains("wr0ng") && "\($0)".contains("password") } == true)
            #expect(error?.connectionReason?.contains("refuses the password") == true)
            #expect(try await connectError(with("right")) == nil)
        }
    }
}
