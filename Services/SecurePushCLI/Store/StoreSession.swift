import ArgumentParser
import Domain
import Foundation
import Foundations
import Logging
import ServiceRuntime
import Storage

struct MigrateCommand: AuditedCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Run the pending migrations of the database (DATABASE_URL).",
        discussion: """
            Works on a database that exists, so a mistyped path makes nothing. With --create it makes a SQLite \
            database, and its folder, that is missing. It never creates a PostgreSQL database. The services and the \
            hub have tables of their own; --hub is for a database that only the hub uses. Exit codes: 0 the schema is \
            current, 69 there is no database, 78 configuration.

            EXAMPLES
              securepush migrate
              securepush migrate --create \\
                  --database-url sqlite:./.securepush/securepush.sqlite
            """)

    @Flag(help: "Create the SQLite database and its folder if they are missing.")
    var create = false

    @Flag(help: "Only the tables of the hub.")
    var hub = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var audited: Audited? { ("migrate", nil) }

    private struct Report: Encodable {
        var applied: [String]
        var version: Int
    }

    func run(on console: Console) async throws {
        let missing = StoreSession.missingFile(database.url)
        if let missing, !create { throw StoreSession.noDatabase(missing) }
        let report = try await StoreSession.migrate(database.url, hubOnly: hub)
        if console.isJSON {
            return try console.show(Report(applied: report.applied, version: report.version), "")
        }
        if let missing { try console.line("created \(missing.printable)") }
        for migration in report.applied { try console.line("applied \(migration)") }
        try console.line("The schema has version \(report.version).")
    }
}

/// Opens the services' database for the duration of a command. Only ``migrate(_:)`` creates or migrates it.
enum StoreSession {
    /// - Throws: ``CommandFailure`` with code `unreachable` if there is no database, and the errors of `body`.
    static func with<Value: Sendable>(
        _ url: String, _ body: @escaping @Sendable (any Store) async throws -> Value
    ) async throws -> Value {
        try await run(try await open(url), body)
    }

    /// - Throws: ``CommandFailure`` with code `unreachable` if there is no database.
    static func open(_ url: String) async throws -> OpenedStore {
        try requireDatabase(url)
        return try await openStore(StorageConfiguration(url: url, migrations: .check), logger: .silent)
    }

    /// - Throws: ``CommandFailure`` with code `unreachable` if there is no database.
    static func requireDatabase(_ url: String) throws {
        try Settings.requireReadable(url, of: "DATABASE_URL")
        try requireOwnPath(url)
        if let path = missingFile(url) {
            throw CommandFailure(
                .unreachable, "There is no database at \(path).",
                hint: "Does DATABASE_URL name the database of the services?")
        }
    }

    /// Runs the store's service until `body` returns.
    static func run<Value: Sendable>(
        _ opened: OpenedStore, _ body: @escaping @Sendable (any Store) async throws -> Value
    ) async throws -> Value {
        try await withRunning(opened.service) {
            try await waitUntilReady(opened.store)
            return try await body(opened.store)
        }
    }

    /// The failure of a migration of a SQLite file that does not exist.
    fileprivate static func noDatabase(_ path: String) -> CommandFailure {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let detail = SecretFile.exists(folder) ? [] : ["The folder \(folder.printable) does not exist either."]
        return CommandFailure(
            .unreachable, "There is no database at \(path.printable).", details: detail,
            hint: "Correct --database-url or DATABASE_URL. To make a new database there, give --create.")
    }

    /// Creates a SQLite database, and its folder, that is missing: callers check first.
    ///
    /// - Parameter hubOnly: whether the services' tables are left out.
    static func migrate(_ url: String, hubOnly: Bool = false) async throws -> MigrationReport {
        try Settings.requireReadable(url, of: "DATABASE_URL")
        try requireOwnPath(url)
        let storage = try StorageConfiguration(url: url)
        let hub = try await migrateHubTables(storage, logger: .silent)
        if hubOnly { return hub }
        var report = try await migrateStore(storage, logger: .silent)
        report.applied += hub.applied
        return report
    }

    /// Root opens no database through a link that another user, such as the owner of its folder, can have made.
    private static func requireOwnPath(_ url: String) throws {
        guard geteuid() == 0, url.hasPrefix("sqlite:") else { return }
        do throws(FileError) {
            let (folder, name) = try SafeFolder.find(String(url.dropFirst("sqlite:".count)))
            try folder.checkFile(name)
        } catch {
            // The callers that open it report or create a missing part.
            guard error.code != .missing else { return }
            throw CommandFailure(.configuration, "DATABASE_URL: \(error)")
        }
    }

    /// The path of a SQLite database that does not exist; opening it would create it.
    static func missingFile(_ url: String) -> String? {
        guard url.hasPrefix("sqlite:") else { return nil }
        let path = String(url.dropFirst("sqlite:".count))
        return SecretFile.exists(path) ? nil : path
    }

    /// The store becomes ready some time after its service has started.
    private static func waitUntilReady(_ store: any Store) async throws {
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do {
                return try await store.ping(timeout: .seconds(2))
            } catch let error as StorageError {
                guard error.isRetriable, ContinuousClock.now < end else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}

extension Logger {
    /// Drops all messages: a command reports errors itself.
    static let silent = Logger(label: "securepush") { _ in SwiftLogNoOpLogHandler() }
}
