import ArgumentParser
import Domain
import NotificationHubs
import ServiceRuntime
import Storage

struct HubsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hubs", abstract: "Show the hubs of HUB_POOL_FILE, and move devices to their users' hubs.",
        discussion: """
            EXAMPLES
              securepush hubs list
              securepush hubs rebalance --dry-run --hub-pool-file hubs.new
              securepush hubs rebalance --copy-only --hub-pool-file hubs.new
              securepush hubs rebalance
            """,
        subcommands: [List.self, Rebalance.self])

    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the hubs with their shares of the users and devices of the database.",
            discussion: """
                USERS are those with a device. DEVICES are the devices of these users. TO MOVE counts the devices that \
                are missing at this hub, or may also be at another hub. AT THE HUB is how many devices may be \
                registered there. A hub that has left the file is listed while devices are stored as registered there. \
                Keys are not shown.

                EXAMPLES
                  securepush hubs list
                  securepush hubs list --hub-pool-file hubs.new --json
                """)

        @OptionGroup var pool: HubPoolOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let hubs = try pool.settings.initial.hubs
            let table = HubTable(
                hubs.map { HubTable<Void>.Member(label: $0.hubName, endpoint: $0.endpoint.url, client: ()) })
            let shares = try await StoreSession.with(database.url) { store in
                var shares = HubShares(table)
                for try await page in StoredDevices(store: store) {
                    for (device, places) in try await store.placed(page) { shares.count(device, places) }
                }
                return shares
            }
            var shown = Table(HubShares.columns)
            try console.show(shares.rows, in: &shown)
        }
    }

    struct Rebalance: AuditedCommand {
        static let configuration = CommandConfiguration(
            commandName: "rebalance",
            abstract: "Put every device at its user's hub, and remove it at the others.",
            discussion: """
                It puts each device at its user's hub, if that does not have it. Then it removes the device at all \
                other hubs. Devices that the database does not have any more are deleted at all hubs. Use it after \
                HUB_POOL_FILE has changed. So that no push is missed, run it before the change too: give it the new \
                file with --hub-pool-file, and --copy-only. It takes the same leases as the services, looks only at \
                devices that are not in place, and can be interrupted and repeated.

                Exit codes: 0 all in place, 1 some failed, 69 a hub or the database does not answer, 78 invalid \
                settings, 130 interrupted.

                EXAMPLES
                  securepush hubs rebalance --dry-run --hub-pool-file hubs.new
                  securepush hubs rebalance --copy-only --hub-pool-file hubs.new --rate 50
                  securepush hubs rebalance
                """)

        @Flag(name: .customLong("dry-run"), help: "Only count the devices, without requests to the hubs.")
        var isDryRun = false

        @Flag(help: "Put the devices at their users' hubs, and leave them at the others too.")
        var copyOnly = false

        @Option(help: ArgumentHelp("Devices per second, 1 to 10,000.", valueName: "n"))
        var rate = 100

        @OptionGroup var pool: HubPoolOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { isDryRun ? nil : ("hubs.rebalance", nil) }

        func validate() throws {
            guard (1...10_000).contains(rate) else { throw ValidationError("--rate must be 1 to 10,000.") }
        }

        func run(on console: Console) async throws {
            let settings = try pool.settings
            let file = try pool.naming { try HubPoolFile(settings, logger: .silent) }
            let hubs = HubDevicesPool(file: file, logger: .silent)
            // Fixed for the whole run: the file may change meanwhile.
            let table = hubs.table
            let opened = try await StoreSession.open(database.url)
            let plan = HubRebalance.Plan(isDryRun: isDryRun, copyOnly: copyOnly, rate: rate)
            let report = try await StoreSession.run(opened) { store in
                try await withRunning(hubs) {
                    try await HubRebalance(store: store, table: table, plan: plan).attend(on: console)
                }
            }
            try report.failures.show(on: console)
            try console.show(report, report.summary)
            if report.isInterrupted { throw ExitCode.interrupted }
            if report.failed > 0 { throw CommandFailure.Code.failed.exitCode }
            if copyOnly, !isDryRun, !console.isJSON {
                console.message("Now give this file to the services, and then run securepush hubs rebalance.")
            }
        }
    }
}

struct HubPoolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The file of the hubs, one per line (HUB_POOL_FILE).", valueName: "file"),
        completion: .file(), transform: filePath)
    var hubPoolFile: String?

    /// - Throws: ``CommandFailure`` with code `configuration`.
    var settings: HubPoolSettings {
        get throws {
            let settings = Settings()
            let path = try settings.path(hubPoolFile, "HUB_POOL_FILE", flag: "--hub-pool-file", "file of hubs")
            return try naming { try settings.hubPool(path) }
        }
    }

    /// Names the option or the variable in an error of the file.
    func naming<Value>(_ body: () throws -> Value) throws -> Value {
        try CommandFailure.naming(hubPoolFile == nil ? "HUB_POOL_FILE" : "--hub-pool-file", body)
    }
}
