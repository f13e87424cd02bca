import Logging
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// Collects the results that completions are called with.
final class Answers: Sendable {
    private let results = Mutex<[Result<PostgresResult, PostgresError>]>([])

    var all: [Result<PostgresResult, PostgresError>] { results.withLock { $0 } }

    /// The codes of the failures, in the order of the calls; `nil` for a success.
    var codes: [PostgresError.Code?] {
        all.map { result in
            guard case .failure(let error) = result else { return nil }
            return error.code
        }
    }

    func note(_ result: Result<PostgresResult, PostgresError>) { results.withLock { $0.append(result) } }
}

@Suite(.timeLimit(.minutes(5))) struct CallbackTests {
    private let one = PostgresStatement("SELECT 1")
    private let sleep = PostgresStatement("SELECT pg_sleep(9)")
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `Of a thousand queries each gets its own answer once`() async throws {
        try await withClient { client in
            let statement = PostgresStatement("SELECT $1::int8 * 2")
            let answers = Mutex<[Int64: [Int64?]]>.Box([:])
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Int64(1000) {
                    group.addTask {
                        var parameters = PostgresParameters()
                        parameters.append(number)
                        client.query(statement, parameters) { result in
                            let doubled = try? result.get().first?.decode(0, as: Int64.self)
                            answers.value.withLock { $0[number, default: []].append(doubled) }
                        }
                    }
                }
            }
            try await expectEventually { answers.value.withLock { $0.count } == 1000 }
            // Their answers stand behind all others on each connection.
            for _ in 0..<20 { _ = try await client.query(one) }
            for number in 0..<Int64(1000) { #expect(answers.value.withLock { $0[number] } == [number * 2]) }
        }
    }

    @Test func `A failure is of its query only`() async throws {
        try await withConnection { connection in
            let answers = Answers()
            let divide = PostgresStatement("SELECT 100 / $1::int4")
            for number in [Int32(1), 0, 2] {
                var parameters = PostgresParameters()
                parameters.append(number)
                connection.query(divide, parameters, then: answers.note)
            }
            var text = PostgresParameters()
            text.append("1")
            connection.query(divide, text, then: answers.note)
            try await expectEventually { answers.all.count == 4 }
            #expect(Set(answers.codes) == [nil, .invalid, .server])
            _ = try await connection.query(one)
            #expect(answers.all.count == 4)
            #expect(connection.status.inFlight.load(ordering: .relaxed) == 0)
        }
    }

    @Test func `Without a connection the completion is called at once`() throws {
        let configuration = try PostgresConfiguration(uri: "postgres://a@127.0.0.1:1/a")
        let client = try PostgresClient(configuration: configuration, logger: quiet)
        let answers = Answers()
        client.query(one, then: answers.note)
        #expect(answers.codes == [.unavailable])
    }

    @Test func `A connection that is not open answers its mail`() async throws {
        let configuration = try PostgresConfiguration(uri: "postgres://a@127.0.0.1:1/a")
        let connection = try PostgresConnection(configuration: configuration)
        let answers = Answers()
        for _ in 0..<3 { connection.query(one, then: answers.note) }
        try await expectEventually { answers.all.count == 3 }
        await connection.close()
        connection.query(one, then: answers.note)
        try await expectEventually { answers.all.count == 4 }
        #expect(answers.codes == Array(repeating: .unavailable, count: 4))
    }

    @Test func `A lost connection fails every query once`() async throws {
        try await withConnection { connection in
            let process = try #require(await connection.serverProcess)
            let answers = Answers()
            for statement in [sleep, one, one] { connection.query(statement, then: answers.note) }
            try await expectEventually { await connection.inFlight == 3 }
            try await withConnection { other in
                try await other.execute(["SELECT pg_terminate_backend(\(process))"])
            }
            try await expectEventually { answers.all.count == 3 }
            #expect(!connection.isConnected)
            connection.query(one, then: answers.note)
            try await expectEventually { answers.all.count == 4 }
            #expect(answers.codes == [.connectionLost, .connectionLost, .connectionLost, .unavailable])
            #expect(connection.status.inFlight.load(ordering: .relaxed) == 0)
        }
    }

    @Test func `Closing fails what is in flight`() async throws {
        try await withConnection { connection in
            let answers = Answers()
            for statement in [sleep, one] { connection.query(statement, then: answers.note) }
            try await expectEventually { await connection.inFlight == 2 }
            await connection.close()
            #expect(answers.codes == [.connectionLost, .connectionLost])
        }
    }

    /// Nobody but the query holds the connection, so its thread may end before it has taken the query.
    @Test func `A released connection answers its mail`() async throws {
        let configuration = try PostgresConfiguration(uri: "postgres://a@127.0.0.1:1/a")
        let answers = Answers()
        for _ in 0..<100 { try PostgresConnection(configuration: configuration).query(one, then: answers.note) }
        try await expectEventually { answers.all.count == 100 }
        #expect(answers.codes == Array(repeating: .unavailable, count: 100))
    }

    @Test func `A released connection fails what is in flight`() async throws {
        let answers = Answers()
        do {
            let configuration = try PostgresConfiguration(uri: try TestEnvironment.databaseURL)
            let connection = try PostgresConnection(configuration: configuration)
            try await connection.connect()
            connection.query(sleep, then: answers.note)
            try await expectEventually { await connection.inFlight == 1 }
        }
        try await expectEventually { answers.all.count == 1 }
        #expect(answers.codes == [.connectionLost])
    }

    /// A completion runs on the connection's thread and leaves the next query there.
    @Test func `A completion can send the next query`() async throws {
        try await withClient(connections: 1) { client in
            let answers = Answers()
            @Sendable func query() {
                client.query(one) { result in
                    answers.note(result)
                    if answers.all.count < 200 { query() }
                }
            }
            query()
            try await expectEventually { answers.all.count == 200 }
            #expect(answers.codes.allSatisfy { $0 == nil })
        }
    }

    @Test func `Callbacks and tasks share a connection in their order`() async throws {
        try await withConnection { connection in
            try await connection.execute(["CREATE TEMPORARY TABLE counted (n serial, name text)"])
            let insert = PostgresStatement("INSERT INTO counted (name) VALUES ($1) RETURNING n")
            let order = Mutex<[Int32?]>.Box([])
            for index in 0..<50 {
                var parameters = PostgresParameters()
                parameters.append("\(index)")
                connection.query(insert, parameters) { result in
                    let number = try? result.get().first?.decode(0, as: Int32.self)
                    order.value.withLock { $0.append(number) }
                }
            }
            let names = try await connection.query(PostgresStatement("SELECT name FROM counted ORDER BY n"))
            #expect(try names.map { try $0.decode(0, as: String.self) } == (0..<50).map { "\($0)" })
            #expect(order.value.withLock { $0 } == (1...50).map { Int32($0) })
        }
    }
}

extension Mutex where Value: Sendable {
    fileprivate final class Box: Sendable {
        let value: Mutex<Value>
        init(_ value: sending Value) { self.value = Mutex(value) }
    }
}
