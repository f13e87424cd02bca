package import Foundation

/// A private PostgreSQL cluster on loopback, which may be stopped and killed; run by `scripts/postgres.sh`.
package struct PostgresServer: Sendable {
    package let folder: URL
    package let port: Int
    private let scripts: Scripts

    package init(folder: URL, port: Int, scripts: Scripts = .ofThisCheckout) {
        (self.folder, self.port, self.scripts) = (folder, port, scripts)
    }

    /// The libpq URI of its database.
    package var url: String { "postgres://securepush@127.0.0.1:\(port)/securepush" }
    /// The same database as the cluster's superuser.
    package var adminURL: String { "postgres://postgres@127.0.0.1:\(port)/securepush" }

    package func start() async throws { try await scripts.run("postgres.sh", ["start", folder.path, String(port)]) }
    package func stop() async throws { try await scripts.run("postgres.sh", ["stop", folder.path]) }
    /// SIGKILL of all its processes.
    package func kill() async throws { try await scripts.run("postgres.sh", ["kill", folder.path]) }

    /// Lets new sessions of its database write, or not, and ends those that it has.
    package func setReadOnly(_ isReadOnly: Bool) async throws {
        // In another database: a session of this one could not change it back.
        let url = "postgres://postgres@127.0.0.1:\(port)/postgres"
        let change = isReadOnly ? "SET default_transaction_read_only TO on" : "RESET default_transaction_read_only"
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'securepush'"
        for statement in ["ALTER DATABASE securepush \(change)", end] {
            try await scripts.run("postgres.sh", ["sql", url, statement])
        }
    }
}

/// Starts a cluster in a temporary folder, runs the body, and deletes the cluster.
package func withPostgresServer(_ body: (PostgresServer) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "securepush-pg-\(UUID().uuidString.prefix(8))")
    let server = PostgresServer(folder: folder, port: try freePorts(1))
    try await server.start()
    let result: Result<Void, any Error>
    do { result = .success(try await body(server)) } catch { result = .failure(error) }
    try? await server.kill()
    try? FileManager.default.removeItem(at: folder)
    try result.get()
}
