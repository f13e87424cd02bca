import Logging
import Postgres
import TestSupport

/// Runs a test with a connection to the shared server, or to another.
func withConnection(
    to url: String? = nil, _ change: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresConnection) async throws -> Void
) async throws {
    var configuration = try PostgresConfiguration(uri: try url ?? TestEnvironment.databaseURL)
    change(&configuration)
    let connection = try PostgresConnection(configuration: configuration)
    try await connection.connect()
    do {
        try await body(connection)
    } catch {
        await connection.close()
        throw error
    }
    await connection.close()
}

/// Runs a test with a client that is running and connected.
func withClient(
    of url: String? = nil, connections: Int = 4, _ body: @Sendable @escaping (PostgresClient) async throws -> Void
) async throws {
    let configuration = try PostgresConfiguration(uri: try url ?? TestEnvironment.databaseURL)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let client = try PostgresClient(configuration: configuration, connections: connections, logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await client.run() }
        defer { group.cancelAll() }
        guard try await eventually({ client.isConnected }) else {
            throw PostgresError(.unavailable, "The client did not connect.")
        }
        try await body(client)
    }
}

/// The error that a call throws, or `nil`.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}
