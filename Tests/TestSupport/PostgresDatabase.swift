import Foundation
import StackKit

/// Runs a test with an empty database of its own on the shared server (``TestEnvironment/databaseURL``), which is
/// dropped afterwards.
package func withPostgresDatabase(options: String = "", _ body: (_ url: String) async throws -> Void) async throws {
    let server = try TestEnvironment.databaseURL
    let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
    try await Scripts.ofThisCheckout.run("postgres.sh", ["sql", server, "CREATE DATABASE \(name) \(options)"])
    var components = URLComponents(string: server)
    components?.path = "/\(name)"
    let result: Result<Void, any Error>
    do { result = .success(try await body(components?.string ?? server)) } catch { result = .failure(error) }
    try await Scripts.ofThisCheckout.run(
        "postgres.sh", ["sql", server, "DROP DATABASE IF EXISTS \(name) WITH (FORCE)"])
    try result.get()
}
