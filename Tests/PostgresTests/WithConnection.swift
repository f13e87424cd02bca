import Foundation
import Logging
import Postgres
import StackKit
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

extension PostgresServer {
    /// Makes the server ask `securepush` for a password, once it reads its configuration again.
    func requirePasswords() async throws {
        let rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        let file = try FileHandle(forWritingTo: folder.appending(path: "data/pg_hba.conf"))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(rules.utf8))
        try file.close()
    }
}
