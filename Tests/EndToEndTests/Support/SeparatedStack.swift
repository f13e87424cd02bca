import Foundation
import StackKit
import Synchronization
import TestSupport
import Testing

/// A system as docker-compose.yml sets it up: `securepush setup` gives each service a folder of its own, a role of the
/// database with a password and a user of the broker, and nothing is in a service's environment but names of files.
final class SeparatedStack: Sendable {
    let folder: URL
    let broker: RabbitMQServer
    let database: PostgresServer
    let hubPort: Int
    private let processes = Mutex<[ProcessUnderTest]>([])

    /// The originals of the files, and the command line's own URLs.
    var secrets: URL { folder.appending(path: "state/secrets") }
    var services: URL { folder.appending(path: "services") }

    fileprivate init(folder: URL, broker: RabbitMQServer, database: PostgresServer, hubPort: Int) {
        (self.folder, self.broker, self.database, self.hubPort) = (folder, broker, database, hubPort)
    }

    /// The steps of the compose file: files, servers with them, roles.
    fileprivate func setUp() async throws {
        try await securepush(
            "setup", "--directory", folder.appending(path: "state").path, "--services", services.path, "--database",
            "127.0.0.1:\(database.port)/securepush", "--broker", "127.0.0.1:\(broker.port)", "--hub-endpoint",
            "http://127.0.0.1:\(hubPort)/", "--demo")
        let definitions = services.appending(path: "rabbitmq/definitions.json").path
        try await broker.control("import_definitions", definitions)
        try await securepush(
            "setup", "database-roles", "--apply", "--passwords", services.appending(path: "admin").path,
            environment: ["DATABASE_URL": database.adminURL])
        try await requirePasswords()
    }

    /// From now on everybody but the superuser logs in by password, as in a container.
    private func requirePasswords() async throws {
        let rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        let file = try FileHandle(forWritingTo: database.folder.appending(path: "data/pg_hba.conf"))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(rules.utf8))
        try file.close()
        _ = try await sql("SELECT pg_reload_conf()", at: database.adminURL)
    }

    /// Runs the command line.
    @discardableResult
    func securepush(_ arguments: String..., environment: [String: String] = [:]) async throws -> String {
        var environment = environment
        environment["RETRY_DELAYS"] = Self.retryDelays
        let process = try ProcessUnderTest("securepush", arguments, environment: environment, folder: folder)
        let code = try await process.exitCode(within: .seconds(60))
        let output = process.standardOutput
        try #require(code == 0, "securepush \(arguments): \(process.standardError) \(output)")
        return output
    }

    private static let retryDelays = "1s,2s"

    /// The URL that `setup` has put into a service's folder.
    func url(_ kind: String, of service: String) throws -> String {
        let file =
            service == "cli"
            ? secrets.appending(path: "\(kind)-url") : services.appending(path: "\(service)/\(kind)-url")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").joined()
    }

    /// Starts a service that sees its own folder only, with the settings of the compose file.
    func start(_ name: String) async throws -> RunningService {
        let own = services.appending(path: name)
        let database = ["DATABASE_URL_FILE": "database-url", "DATABASE_MIGRATE": "check"]
        let broker = ["AMQP_URL_FILE": "amqp-url", "AMQP_DECLARE": "check", "RETRY_DELAYS": Self.retryDelays]
        let users = ["AUTH_USERS_FILE": "users", "AUTH_JWKS_FILE": "jwks.json"]
        let hub = ["HUB_CONNECTION_STRING_FILE": "hub-connection-string", "HUB_NAME": "securepush"]
        var settings = ["HTTP_PORT": "0", "LOG_FORMAT": "json", "LOG_LEVEL": "debug"]
        switch name {
        case "ingest":
            settings.merge([database, broker, users].flatMap(\.self)) { $1 }
            settings["PAYLOAD_KEYS_FILE"] = "payload.keys"
            settings["INGEST_API_KEYS_FILE"] = "api-keys"
        case "dispatcher": settings.merge([database, broker, hub].flatMap(\.self)) { $1 }
        case "retrieval":
            settings.merge([database, users, hub].flatMap(\.self)) { $1 }
            settings["PAYLOAD_KEYS_FILE"] = "payload.keys"
            settings["AUTH_TOKEN_SIGNING_KEY_FILE"] = "token-signing-key.pem"
            settings["WEB_PUSH_PUBLIC_KEY_FILE"] = "web-push-public-key"
        case "operator":
            settings.merge([database, broker].flatMap(\.self)) { $1 }
            settings["ADMIN_PASSWORD_FILE"] = "admin-password"
        default:
            settings.merge(database) { $1 }
            settings["HTTP_PORT"] = "\(hubPort)"
            settings["HUB_ACCESS_FILE"] = "hub-access"
            settings["PUSH_CREDENTIALS_FILE"] = "push-credentials.json"
        }
        let process = try ProcessUnderTest(name, environment: settings, folder: own)
        processes.withLock { $0.append(process) }
        return RunningService(process: process, port: try await process.port())
    }

    /// The settings of the command line.
    var commandLineEnvironment: [String: String] {
        [
            "DATABASE_URL_FILE": secrets.appending(path: "database-url").path,
            "AMQP_URL_FILE": secrets.appending(path: "amqp-url").path, "AMQP_DECLARE": "check",
        ]
    }

    var logs: String { processes.withLock { $0 }.map(\.standardError).joined() }

    fileprivate func end() { for process in processes.withLock({ $0 }) { process.kill() } }
}

/// Runs SQL by psql; an error of the server is thrown with its text.
@discardableResult
func sql(_ statement: String, at url: String) async throws -> String {
    try await run(TestEnvironment.packageRoot.appending(path: "scripts/postgres.sh").path, ["sql", url, statement])
}

/// Runs a test with a system set up as in containers, around the suite's broker and a PostgreSQL of its own.
func withSeparatedStack(_ body: (SeparatedStack) async throws -> Void) async throws {
    let broker = try #require(BrokerTrait.server)
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-sep-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await withPostgresServer { database in
        let stack = SeparatedStack(folder: folder, broker: broker, database: database, hubPort: try freePorts(1))
        defer { stack.end() }
        try await stack.setUp()
        try await body(stack)
    }
}
