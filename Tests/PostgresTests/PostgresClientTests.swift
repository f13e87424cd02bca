import Logging
import Postgres
import StackKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PostgresClientTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `Queries do not wait for a server that does not answer`() async throws {
        try await withSilentListener { port in
            // Connecting takes an hour, so a query that waited for it would run into the suite's limit.
            let uri = "postgres://a@127.0.0.1:\(port)/a?connect_timeout=3600&sslmode=disable"
            let client = try PostgresClient(configuration: try PostgresConfiguration(uri: uri), logger: quiet)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await client.run() }
                let error = await postgresError { _ = try await client.query(PostgresStatement("SELECT 1")) }
                #expect(error?.code == .unavailable)
                group.cancelAll()
            }
        }
    }

    @Test func `Slow queries take one connection each`() async throws {
        try await withClient(connections: 2) { client in
            let process = PostgresStatement("SELECT pg_backend_pid(), pg_sleep(0.3)")
            let isSpread = try await eventually {
                async let first = client.query(process).first?.decode(0, as: Int32.self)
                async let second = client.query(process).first?.decode(0, as: Int32.self)
                return try await first != second
            }
            #expect(isSpread)
        }
    }

    @Test func `A killed server loses what is in flight and is found again`() async throws {
        try await withPostgresServer { server in
            try await withClient(of: server.url) { client in
                async let slow = postgresError { _ = try await client.query(PostgresStatement("SELECT pg_sleep(9)")) }
                try await server.waitForSleeper()
                try await server.kill()
                #expect(await slow?.code == .connectionLost)
                #expect(try await eventually { !client.isConnected })
                let error = await postgresError { _ = try await client.query(PostgresStatement("SELECT 1")) }
                #expect(error?.code == .unavailable)
                try await server.start()
                #expect(try await eventually { client.isConnected })
                #expect(try await client.query(PostgresStatement("SELECT 1")).count == 1)
            }
        }
    }

    @Test func `A terminated session is a connection lost`() async throws {
        try await withConnection { connection in
            let process = try #require(await connection.serverProcess)
            async let slow = postgresError { _ = try await connection.query(PostgresStatement("SELECT pg_sleep(9)")) }
            #expect(try await eventually { await connection.inFlight == 1 })
            try await withConnection { other in
                try await other.execute(["SELECT pg_terminate_backend(\(process))"])
            }
            let error = await slow
            #expect(error?.code == .connectionLost && error?.sqlState == "57P01")
            #expect(try await connection.waitUntilLost().code == .unavailable)
        }
    }

    @Test func `Stopping closes the connections`() async throws {
        try await withClient { client in
            _ = try await client.query(PostgresStatement("SELECT 1"))
        }
        let configuration = try PostgresConfiguration(uri: try TestEnvironment.databaseURL)
        let client = try PostgresClient(configuration: configuration, logger: quiet)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await client.run() }
            group.cancelAll()
        }
        #expect(!client.isConnected)
    }
}

extension PostgresServer {
    /// Waits until the server is running somebody's `pg_sleep`.
    fileprivate func waitForSleeper() async throws {
        let find = PostgresStatement(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%pg_sleep(9)%'")
        try await withConnection(to: adminURL) { admin in
            let isAsleep = try await eventually { try await !admin.query(find).isEmpty }
            #expect(isAsleep)
        }
    }
}
