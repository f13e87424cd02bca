import Postgres
import StackKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct DeadlineTests {
    @Test func `A deadline may be any time there is`() async throws {
        try await withConnection {
            $0.connectTimeout = .seconds(Int64.max)
            $0.queryTimeout = .seconds(Int64.max)
        } _: { connection in
            let result = try await connection.query(PostgresStatement("SELECT 1"))
            #expect(result.count == 1)
        }
    }

    @Test func `A query without answer breaks its connection`() async throws {
        try await withConnection {
            $0.queryTimeout = .seconds(2)
        } _: { connection in
            // With callbacks, because a task may begin late: the second must be sent before the first is too late.
            let answers = Answers()
            connection.query(PostgresStatement("SELECT pg_sleep(9)"), then: answers.note)
            connection.query(PostgresStatement("SELECT 1"), then: answers.note)
            try await expectEventually { answers.all.count == 2 }
            #expect(answers.codes == [.timeout, .connectionLost])
            #expect(!connection.isConnected)
            let third = await postgresError { _ = try await connection.query(PostgresStatement("SELECT 1")) }
            #expect(third?.code == .unavailable)
            try await connection.connect()
            #expect(try await connection.query(PostgresStatement("SELECT 1")).count == 1)
        }
    }

    @Test func `The server's own timeout leaves the connection`() async throws {
        try await withConnection {
            $0.statementTimeout = .milliseconds(100)
        } _: { connection in
            let error = await postgresError { _ = try await connection.query(PostgresStatement("SELECT pg_sleep(5)")) }
            #expect(error?.code == .timeout && error?.sqlState == "57014")
            #expect(connection.isConnected)
        }
    }

    @Test func `Cancellation is felt at once and the connection goes on`() async throws {
        // The query waits for a lock that the holder has until the cancellation was felt.
        let lock = Int64.random(in: 1...Int64.max)
        try await withConnection { holder in
            _ = try await holder.query(PostgresStatement("SELECT pg_advisory_lock(\(lock))"))
            try await withConnection { connection in
                let waiting = PostgresStatement("SELECT pg_advisory_lock(\(lock))")
                let task = Task { try await connection.query(waiting) }
                #expect(try await eventually { await connection.inFlight == 1 })
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
                #expect(await connection.inFlight == 1)
                _ = try await holder.query(PostgresStatement("SELECT pg_advisory_unlock(\(lock))"))
                let answer = try await connection.query(PostgresStatement("SELECT 7"))
                #expect(try answer.first?.decode(0) == Int32(7))
            }
        }
    }

    @Test func `A cancelled task sends nothing`() async throws {
        try await withConnection { connection in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await connection.query(PostgresStatement("SELECT pg_sleep(1)"))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await connection.inFlight == 0)
        }
    }
}
