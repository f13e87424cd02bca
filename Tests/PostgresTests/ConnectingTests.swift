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

    @Test func `A port where nothing listens is unavailable`() async throws {
        #expect(try await connectError("postgres://a@127.0.0.1:1/a")?.code == .unavailable)
    }

    @Test func `A name that does not resolve is unavailable`() async throws {
        #expect(try await connectError("postgres://a@host.invalid/a")?.code == .unavailable)
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
            #expect(try await connectError(with("right")) == nil)
        }
    }
}
