import ArgumentParser
import Foundation
import Logging
import SecurePushCore
import ServiceLifecycle
import Storage

struct MigrateCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Run the pending migrations of the database (DATABASE_URL).",
        discussion: """
            EXAMPLES
              securepush migrate
              securepush migrate --database-url sqlite:./.securepush/securepush.sqlite
            """)

    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp("sqlite:PATH, or a libpq URI without a password (DATABASE_URL).", valueName: "url"))
    var databaseURL: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Answer: Encodable {
        var Applied: [String]
        var Version: Int
    }

    func run(on console: Console) async throws {
        let report = try await Migrations.run(databaseURL ?? Migrations.url())
        if console.isJSON {
            return try console.show(Answer(Applied: report.applied, Version: report.version), "")
        }
        for migration in report.applied { console.line("applied \(migration)") }
        console.line("the schema is at version \(report.version)")
    }
}

/// Migrations from the command line.
enum Migrations {
    static func url(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        Settings(environment)["DATABASE_URL"] ?? "sqlite:./.securepush/securepush.sqlite"
    }

    static func run(_ url: String) async throws -> MigrationReport {
        try await migrateStore(
            StorageConfiguration(url: url), logger: Logger(label: "securepush") { _ in SwiftLogNoOpLogHandler() })
    }
}

/// The services' database, opened for as long as a command takes. Never migrates and never makes one.
enum StoreSession {
    static let logger = Logger(label: "securepush") { _ in SwiftLogNoOpLogHandler() }

    /// - Throws: ``CommandFailure`` with code `unreachable` where there is no database, and what `body` throws.
    static func with<Value: Sendable>(
        _ url: String, _ body: @escaping @Sendable (any Store) async throws -> Value
    ) async throws -> Value {
        try await run(try await open(url), body)
    }

    /// - Throws: ``CommandFailure`` with code `unreachable` where there is no database.
    static func open(_ url: String) async throws -> OpenedStore {
        let configuration = try StorageConfiguration(url: url, migrations: .check)
        // Opening a SQLite database would make it.
        if configuration.kind == .sqlite, case let path = url.dropFirst("sqlite:".count),
            !SecretFile.exists(String(path))
        {
            throw CommandFailure(
                .unreachable, "There is no database at \(path).", hint: "Is DATABASE_URL the services' own?")
        }
        return try await openStore(configuration, logger: logger)
    }

    /// Runs the store's service, and others beside it, for as long as `body` takes.
    static func run<Value: Sendable>(
        _ opened: OpenedStore, beside others: [any Service] = [],
        _ body: @escaping @Sendable (any Store) async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            for service in [opened.service] + others {
                group.addTask {
                    try await service.run()
                    return nil
                }
            }
            group.addTask {
                try await waitUntilReady(opened.store)
                return try await body(opened.store)
            }
            defer { group.cancelAll() }
            while let value = try await group.next() { if let value { return value } }
            throw CommandFailure(.unreachable, "The database was closed.")
        }
    }

    /// The store answers some time after its service was started.
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
