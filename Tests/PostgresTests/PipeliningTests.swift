import Postgres
import TestSupport
import Testing

struct PipeliningTests {
    @Test func `Of a thousand queries at once each gets its own answer`() async throws {
        try await withConnection { connection in
            let statement = PostgresStatement("SELECT $1::int8 * 2")
            let right = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<Int64(1000) {
                    group.addTask {
                        var parameters = PostgresParameters()
                        parameters.append(number)
                        return try await connection.query(statement, parameters).first?.decode(0) == number * 2
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(right == 1000)
        }
    }

    @Test func `Queries are not held back by one another`() async throws {
        // One connection's queries wait for each other at the server, but not for the client: round trips overlap.
        try await withConnection { connection in
            let sleep = PostgresStatement("SELECT pg_sleep(0.2)")
            let quick = PostgresStatement("SELECT 1")
            async let slow = connection.query(sleep)
            let quicks = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await connection.query(quick).count } }
                return try await group.reduce(0, +)
            }
            _ = try await slow
            #expect(quicks == 50)
        }
    }

    @Test func `A failing query among good ones fails alone`() async throws {
        try await withConnection { connection in
            let divide = PostgresStatement("SELECT 100 / $1::int4")
            let states = await withTaskGroup(of: String.self) { group in
                for number in 0..<Int32(100) {
                    group.addTask {
                        var parameters = PostgresParameters()
                        parameters.append(number % 10)
                        let error = await postgresError { _ = try await connection.query(divide, parameters) }
                        return error?.sqlState ?? "fine"
                    }
                }
                return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(states == ["fine": 90, "22012": 10])
            #expect(connection.isConnected)
        }
    }

    @Test func `A statement that cannot be prepared is tried anew`() async throws {
        try await withConnection { connection in
            let statement = PostgresStatement("SELECT n FROM pg_temp.not_yet")
            let error = await postgresError { _ = try await connection.query(statement) }
            #expect(error?.sqlState == "42P01")
            try await connection.execute(["CREATE TEMPORARY TABLE not_yet AS SELECT 5 AS n"])
            #expect(try await connection.query(statement).first?.decode(0) == Int32(5))
        }
    }

    @Test func `A commit that fails is the query's failure`() async throws {
        try await withConnection { connection in
            try await connection.execute([
                "CREATE TEMPORARY TABLE parents (id int PRIMARY KEY)",
                "CREATE TEMPORARY TABLE children (id int REFERENCES parents DEFERRABLE INITIALLY DEFERRED)",
            ])
            let insert = PostgresStatement("INSERT INTO children VALUES (1)")
            let error = await postgresError { _ = try await connection.query(insert) }
            #expect(error?.sqlState == "23503")
        }
    }

    @Test func `A transaction is all or nothing`() async throws {
        try await withConnection { connection in
            try await connection.execute(["CREATE TEMPORARY TABLE once (n int PRIMARY KEY)"])
            let error = await postgresError {
                try await connection.withTransaction {
                    try await connection.execute(["INSERT INTO once VALUES (1)", "INSERT INTO once VALUES (1)"])
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(try await connection.query(PostgresStatement("SELECT n FROM once")).isEmpty)
        }
    }

    @Test func `Errors do not quote values`() async throws {
        try await withConnection { connection in
            var parameters = PostgresParameters()
            parameters.append("s3cret")
            let error = await postgresError {
                _ = try await connection.query(PostgresStatement("SELECT $1::text::int4"), parameters)
            }
            #expect(error?.code == .server && error?.sqlState == "22P02")
            #expect(error.map { !"\($0)".contains("s3cret") } == true)
        }
    }
}
