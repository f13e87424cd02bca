public import Foundation

/// A PostgreSQL cluster of a test's own, for tests that stop and kill it; made by `scripts/postgres.sh`.
public struct PostgresServer: Sendable {
    public let folder: URL
    public let port: Int

    /// The libpq URI of its database.
    public var url: String { "postgres://securepush@127.0.0.1:\(port)/securepush" }
    /// The same as the cluster's superuser.
    public var adminURL: String { "postgres://postgres@127.0.0.1:\(port)/securepush" }

    public func start() async throws { try await Script.postgres("start", folder.path, String(port)) }
    public func stop() async throws { try await Script.postgres("stop", folder.path) }
    /// `kill -9` of all its processes.
    public func kill() async throws { try await Script.postgres("kill", folder.path) }
}

/// Runs a test with a running cluster of its own, which is stopped and deleted afterwards.
public func withPostgresServer(_ body: (PostgresServer) async throws -> Void) async throws {
    let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "securepush-pg-\(UUID().uuidString.prefix(8))")
    let server = PostgresServer(folder: folder, port: try freePorts(1))
    try await server.start()
    let result = await Result.catching { try await body(server) }
    try? await server.kill()
    try? FileManager.default.removeItem(at: folder)
    try result.get()
}

/// Runs a test with an empty database of its own on the shared server (``TestEnvironment/databaseURL``), which is
/// dropped afterwards.
public func withPostgresDatabase(_ body: (_ url: String) async throws -> Void) async throws {
    let server = try TestEnvironment.databaseURL
    let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
    try await Script.postgres("sql", server, "CREATE DATABASE \(name)")
    var components = URLComponents(string: server)
    components?.path = "/\(name)"
    let result = await Result.catching { try await body(components?.string ?? server) }
    try await Script.postgres("sql", server, "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    try result.get()
}

extension Result where Failure == any Error {
    /// What the body gives or throws, so that tidying up can come before either.
    fileprivate static func catching(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
