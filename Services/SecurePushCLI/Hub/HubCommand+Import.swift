import ArgumentParser
import Foundations
import Hub
import Storage

extension HubCommand {
    struct Import: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read an export of Azure Notification Hubs into a hub.",
            discussion: """
                FILE is the result of an export job: the XML of one registration on each line. The command writes to \
                the hub's database (DATABASE_URL), and running hubs see the devices at once. It does not change a \
                registration or installation that was written after --exported-at, nor registrations of the same \
                device. An interrupted import continues where it stopped. A finished import does nothing again, \
                except with --restart. With PUSH_CREDENTIALS_FILE it checks the addresses of devices as the hub \
                does. Exit codes: 0 done, 1 some lines are bad and all others are imported, 69 the database does \
                not answer, 78 the file cannot be used, 130 interrupted.

                EXAMPLES
                  securepush hub import export.txt --hub securepush --dry-run
                  securepush hub import export.txt --hub securepush \\
                      --exported-at 2026-11-20T08:00:00Z --bad bad-lines.txt
                """)

        @Argument(help: "The file.", completion: .file(), transform: filePath) var file: String

        @Option(help: ArgumentHelp("The hub (HUB_NAME).", valueName: "name")) var hub: String?

        @Option(
            help: ArgumentHelp(
                "When the export began; without it, when the file was last written.", valueName: "time"))
        var exportedAt: TimeArgument?

        @Flag(help: "Only read and check the file. Needs no database.") var dryRun = false

        @Flag(help: "Read the file again from its start, even if it was imported.") var restart = false

        @Option(
            help: ArgumentHelp(
                "Write the numbers of bad lines, and why they are bad, to this file.", valueName: "file"),
            completion: .file(), transform: filePath)
        var bad: String?

        @Option(
            help: ArgumentHelp(
                "The hub's credentials, by whose rules addresses are checked (PUSH_CREDENTIALS_FILE).",
                valueName: "file"), completion: .file(), transform: filePath)
        var credentialsFile: String?

        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { dryRun ? nil : ("hub.import", hub) }

        func validate() throws {
            // Entries with a time in the future would not be replaced by later registrations of devices.
            if let time = exportedAt?.time, time > .now {
                throw ValidationError("--exported-at must not be in the future.")
            }
        }

        func run(on console: Console) async throws {
            let settings = Settings()
            guard let hub = hub ?? settings["HUB_NAME"], !hub.isEmpty else {
                throw CommandFailure(.usage, "No hub is named.", hint: "Give --hub NAME, or set HUB_NAME.")
            }
            try requireKnown(hub, settings)
            let source = try CommandFailure.naming("<file>") {
                try HubImport(
                    path: file, hub: hub, credentialsFile: credentialsFile ?? settings["PUSH_CREDENTIALS_FILE"],
                    outgoing: try settings.outgoing())
            }
            let display = ImportDisplay(
                console, file: try bad.map { try BadLineFile($0) }, isTimeGiven: exportedAt != nil)
            if !source.checksAddresses, !console.isJSON {
                console.message("No credentials are given: addresses are not checked.")
            }
            let stop = StopRequest()
            let work: @Sendable (HubTables?) async throws -> HubImport.State = { tables in
                let target = tables.map { HubImport.Target($0, exportedAt: exportedAt?.time, restarts: restart) }
                return try await source.run(
                    target, shouldStop: { stop.isRequested }, bad: { try display.note($0) },
                    report: { display.show($0) })
            }
            let url = database.url
            let state = try await stop.attend {
                if dryRun { return try await work(nil) }
                return try await StoreSession.withHubTables(url) { try await work($0) }
            }
            display.line.clear()
            guard let state else { throw ExitCode.interrupted }
            try finish(state, hub: hub, display, console)
        }

        private func finish(
            _ state: HubImport.State, hub: String, _ display: ImportDisplay, _ console: Console
        ) throws {
            display.reportBadLines()
            let report = ImportReport(state, hub: hub, isDryRun: dryRun)
            try console.show(report, report.lines.joined(separator: "\n"))
            guard state.isDone else {
                console.message("Stopped. The same command continues from line \((report.lineCount + 1).grouped).")
                throw ExitCode.interrupted
            }
            if report.bad > 0 { throw CommandFailure.Code.failed.exitCode }
        }

        /// Refuses a hub that is not in the file of rules, because no client could use its devices.
        private func requireKnown(_ hub: String, _ settings: Settings) throws {
            guard let path = settings["HUB_ACCESS_FILE"] else { return }
            let hubs = try CommandFailure.naming("HUB_ACCESS_FILE") { try HubTools.hubs(ofAccessFile: path) }
            guard hubs.contains(where: { $0.lowercased() == hub.lowercased() }) else {
                throw CommandFailure(
                    .failed, "HUB_ACCESS_FILE names no hub \(hub.printable).",
                    hint: "It has: \(hubs.map(\.printable).joined(separator: ", ")). `securepush hub create` adds one.")
            }
        }
    }
}
