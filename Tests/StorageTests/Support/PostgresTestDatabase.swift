import Domain
import Foundation
import StackKit
import TestSupport
import Testing

/// A database of its own for one test, on the private server of the test run.
enum PostgresTestDatabase {
    private static let permits = Permits(6)

    static func with<Value: Sendable>(_ body: @Sendable (String) async throws -> Value) async throws -> Value {
        let url = try await make()
        let result: Result<Value, any Error>
        do { result = .success(try await body(url)) } catch { result = .failure(error) }
        await drop(url)
        return try result.get()
    }

    /// Waits until the server has room for one more database, and returns its URL. ``drop(_:)`` must follow.
    static func make() async throws -> String {
        await permits.take()
        do {
            let server = try TestEnvironment.databaseURL
            let name = "storage_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
            let defaults = oddDefaults.map { "ALTER DATABASE \(name) SET \($0) TO '\($1)'" }
            _ = try await psql(server, ["CREATE DATABASE \(name)"] + defaults)
            var url = try #require(URLComponents(string: server))
            url.path = "/\(name)"
            return try #require(url.string)
        } catch {
            await permits.give()
            throw error
        }
    }

    static func drop(_ url: String) async {
        if let name = URLComponents(string: url)?.path.dropFirst(), let server = try? TestEnvironment.databaseURL {
            _ = try? await psql(server, "DROP DATABASE \(name) WITH (FORCE)")
        }
        await permits.give()
    }

    /// Defaults of the server that no session of a store may depend on. `PostgresSessionTests` has all of them.
    private static let oddDefaults = [
        ("default_transaction_isolation", "serializable"), ("default_transaction_deferrable", "on"),
        ("lock_timeout", "1ms"), ("idle_in_transaction_session_timeout", "1ms"), ("array_nulls", "off"),
        ("standard_conforming_strings", "off"), ("TimeZone", "Asia/Kathmandu"), ("DateStyle", "German, DMY"),
        ("IntervalStyle", "iso_8601"), ("bytea_output", "escape"),
    ]

    /// Runs one statement and returns what it printed.
    static func psql(_ url: String, _ statement: String) async throws -> String { try await psql(url, [statement]) }

    private static func psql(_ url: String, _ statements: [String]) async throws -> String {
        let options = [
            "default_transaction_isolation=read\\ committed", "lock_timeout=0", "standard_conforming_strings=on",
            "bytea_output=hex", "TimeZone=UTC", "client_min_messages=warning",
        ]
        let environment = ProcessInfo.processInfo.environment.merging([
            "PGOPTIONS": options.map { "-c \($0)" }.joined(separator: " ")
        ]) { $1 }
        let ended = try await result(
            of: "psql",
            ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url] + statements.flatMap { ["-c", $0] },
            environment: environment)
        guard ended.exitCode == 0 else { throw StorageError(.failed, "psql failed") }
        return ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
