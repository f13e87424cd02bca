import ArgumentParser
import Foundation
import Logging
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
