import Foundation
import SecurePushCore
import TestSupport
import Testing

/// A database of its own for one test, on the private server of the test run.
enum PostgresTestDatabase {
    private static let permits = Permits(6)

    static func with<Value: Sendable>(_ body: @Sendable (String) async throws -> Value) async throws -> Value {
        await permits.take()
        let result: Result<Value, any Error>
        do { result = .success(try await withDatabase(body)) } catch { result = .failure(error) }
        await permits.give()
        return try result.get()
    }

    private static func withDatabase<Value: Sendable>(
        _ body: @Sendable (String) async throws -> Value
    ) async throws -> Value {
        let server = try TestEnvironment.databaseURL
        let name = "storage_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
        _ = try psql(server, "CREATE DATABASE \(name)")
        defer { _ = try? psql(server, "DROP DATABASE \(name) WITH (FORCE)") }
        var url = try #require(URLComponents(string: server))
        url.path = "/\(name)"
        return try await body(try #require(url.string))
    }

    /// Runs one statement and returns what it printed.
    static func psql(_ url: String, _ statement: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", statement]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw StorageError(.failed, "psql failed") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
