import Postgres
import StackKit
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PostgresTransactionTests {
    private struct Own: Error {}

    /// How many transactions hold their first row.
    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    private static let count = PostgresStatement("SELECT count(*) FROM transaction_test")
    private static let insert = PostgresStatement("INSERT INTO transaction_test VALUES ($1, 0)")
    private static let add = PostgresStatement("UPDATE transaction_test SET b = b + 1 WHERE a = $1")

    private static func row(_ number: Int64) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(number)
        return parameters
    }

    /// A table with two rows in a schema of its own.
    private func withTable(
        connections: Int = 2, _ body: (PostgresTransactions, _ failed: @Sendable () -> [String]) async throws -> Void
    ) async throws {
        var configuration = try PostgresConfiguration(uri: try TestEnvironment.databaseURL)
        configuration.runtimeParameters["search_path"] = "transaction_test_\(UInt32.random(in: 0 ... .max))"
        let schema = configuration.runtimeParameters["search_path"] ?? ""
        let failed = Mutex<[String]>([])
        let transactions = PostgresTransactions(configuration: configuration, connections: connections) { error, _, _ in
            if let state = error?.sqlState { failed.withLock { $0.append(state) } }
        }
        try await withConnection { connection in
            try await connection.execute([
                "CREATE SCHEMA \(schema)", "CREATE TABLE \(schema).transaction_test (a bigint PRIMARY KEY, b bigint)",
                "INSERT INTO \(schema).transaction_test VALUES (1, 0), (2, 0)",
            ])
            do {
                try await body(transactions) { failed.withLock(\.self) }
            } catch {
                await transactions.close()
                try await connection.execute(["DROP SCHEMA \(schema) CASCADE"])
                throw error
            }
            await transactions.close()
            try await connection.execute(["DROP SCHEMA \(schema) CASCADE"])
        }
    }

    private func rows(_ transactions: PostgresTransactions) async throws -> Int64 {
        try await transactions.run(isReadOnly: true) { transaction in
            try transaction.query(Self.count, PostgresParameters()).first?.decode(0) ?? 0
        }
    }

    @Test(arguments: [true, false])
    func `All statements count, or none`(_ isCaught: Bool) async throws {
        try await withTable { transactions, failed in
            try await transactions.run(isReadOnly: false) { transaction in
                transaction.queryLater([(Self.insert, Self.row(3)), (Self.insert, Self.row(4))])
            }
            await #expect(throws: Own.self) {
                try await transactions.run(isReadOnly: false) { transaction in
                    _ = try transaction.query(Self.insert, Self.row(5))
                    throw Own()
                }
            }
            let error = await postgresError {
                try await transactions.run(isReadOnly: false) { transaction in
                    _ = try transaction.query(Self.insert, Self.row(6))
                    // Whoever catches it cannot go on either.
                    do { _ = try transaction.query(Self.insert, Self.row(1)) } catch { if !isCaught { throw error } }
                }
            }
            #expect(error?.sqlState == "23505")
            let late = await postgresError {
                try await transactions.run(isReadOnly: false) { transaction in
                    transaction.queryLater([(Self.insert, Self.row(7)), (Self.insert, Self.row(1))])
                }
            }
            #expect(late?.sqlState == "23505")
            #expect(try await rows(transactions) == 4)
            #expect(failed() == ["23505", "23505"])
        }
    }

    @Test func `A reading transaction sees one snapshot and changes nothing`() async throws {
        try await withTable { transactions, _ in
            let counts = try await transactions.run(isReadOnly: true) { transaction in
                let first: Int64? = try transaction.query(Self.count, PostgresParameters()).first?.decode(0)
                let sleep = PostgresStatement("SELECT pg_sleep(0.5)", isPrepared: false)
                _ = try transaction.query(sleep, PostgresParameters())
                return (first, try transaction.query(Self.count, PostgresParameters()).first?.decode(0, as: Int64.self))
            }
            #expect(counts.0 == counts.1)
            let error = await postgresError {
                try await transactions.run(isReadOnly: true) { transaction in
                    _ = try transaction.query(Self.insert, Self.row(9))
                }
            }
            #expect(error?.sqlState == "25006")
            #expect(try await rows(transactions) == 2)
        }
    }

    @Test func `One that the server rolls back because of a deadlock runs again`() async throws {
        try await withTable { transactions, failed in
            let (begun, ended) = (Counter(), Counter())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (first, second) in [(Int64(1), Int64(2)), (2, 1)] {
                    group.addTask {
                        let tries = Counter()
                        try await transactions.run(isReadOnly: false) { transaction in
                            let pause = PostgresStatement("SELECT pg_sleep(0.05)", isPrepared: false)
                            // Otherwise the two may meet once more, where the other is slow to take the row.
                            if tries.count.withLock({
                                $0 += 1; return $0
                            }) > 1 {
                                while ended.count.withLock({ $0 }) == 0 {
                                    _ = try transaction.query(pause, PostgresParameters())
                                }
                            }
                            _ = try transaction.query(Self.add, Self.row(first))
                            begun.count.withLock { $0 += 1 }
                            // Both hold a row before either asks for the other's.
                            while begun.count.withLock({ $0 }) < 2 {
                                _ = try transaction.query(pause, PostgresParameters())
                            }
                            _ = try transaction.query(Self.add, Self.row(second))
                        }
                        ended.count.withLock { $0 += 1 }
                    }
                }
                try await group.waitForAll()
            }
            #expect(failed() == ["40P01"])
            let sum = try await transactions.run(isReadOnly: true) { transaction in
                let sum = PostgresStatement("SELECT sum(b)::bigint FROM transaction_test", isPrepared: false)
                return try transaction.query(sum, PostgresParameters()).first?.decode(0, as: Int64.self)
            }
            #expect(sum == 4)
        }
    }

    @Test func `After its connection was lost, the next one connects again; after the end none does`() async throws {
        try await withTable(connections: 1) { transactions, _ in
            let process = try await transactions.run(isReadOnly: true) { transaction in
                let process = PostgresStatement("SELECT pg_backend_pid()", isPrepared: false)
                return try transaction.query(process, PostgresParameters()).first?.decode(0, as: Int32.self)
            }
            try await withConnection { other in
                try await other.execute(["SELECT pg_terminate_backend(\(try #require(process)))"])
            }
            let isThere = try await eventually { (try? await rows(transactions)) == 2 }
            #expect(isThere)
            await transactions.close()
            let error = await postgresError { _ = try await rows(transactions) }
            #expect(error?.code == .unavailable)
        }
    }
}
