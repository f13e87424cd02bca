import ArgumentParser
import Foundations
import ServiceRuntime
import Storage

extension HubCommand {
    struct Devices: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count the devices of a hub by platform and by the time of their last registration.",
            discussion: """
                Reads the hub's database (DATABASE_URL), all devices of the hub. Devices of templates are not counted \
                twice.

                EXAMPLES
                  securepush hub devices securepush
                  securepush hub devices securepush --platform browser --json
                """)

        @Argument(help: "The name of the hub.") var name: String

        @Option(
            help: ArgumentHelp("Only this platform: apple, fcmv1, gcm, windows, browser, ...", valueName: "platform"),
            completion: .platforms)
        var platform: String?

        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let (hub, url) = (name.lowercased(), database.url)
            let counts = try await StoreSession.withHubTables(url) { try await $0.deviceCounts(hub: hub) }
            let rows = HubDevicesRow.rows(counts.filter { count in platform.map { $0 == count.format } ?? true })
            if rows.isEmpty { return console.nothing("No devices match.") }
            var table = Table(HubDevicesRow.columns)
            try console.show(rows, in: &table)
        }
    }
}

/// The devices of a platform.
struct HubDevicesRow: Encodable, Sendable, Equatable {
    var platform: String
    var devices = 0
    /// How many of them have registered last in the last day; 1 to 7, 7 to 30 and 30 to 90 days ago; and before.
    var day = 0
    var week = 0
    var month = 0
    var quarter = 0
    var older = 0

    static func rows(_ counts: [HubDeviceCount]) -> [HubDevicesRow] {
        var rows: [String: HubDevicesRow] = [:]
        for count in counts {
            var row = rows[count.format] ?? HubDevicesRow(platform: count.format)
            row.devices += count.count
            switch count.days {
            case 1: row.day += count.count
            case 7: row.week += count.count
            case 30: row.month += count.count
            case 90: row.quarter += count.count
            default: row.older += count.count
            }
            rows[count.format] = row
        }
        return rows.values.sorted { $0.platform < $1.platform }
    }

    static var columns: [Column<HubDevicesRow>] {
        [
            Column("PLATFORM") { $0.platform }, Column("DEVICES", isNumber: true) { $0.devices.grouped },
            Column("< 1 DAY", isNumber: true) { $0.day.grouped }, Column("< 7", isNumber: true) { $0.week.grouped },
            Column("< 30", isNumber: true) { $0.month.grouped },
            Column("< 90", isNumber: true) { $0.quarter.grouped },
            Column("OLDER", isNumber: true) { $0.older.grouped },
        ]
    }
}

extension StoreSession {
    /// Opens the tables of a hub for the duration of a command.
    ///
    /// - Throws: ``CommandFailure`` with code `unreachable` if there is no database, and the errors of `body`.
    static func withHubTables<Value: Sendable>(
        _ url: String, _ body: @escaping @Sendable (HubTables) async throws -> Value
    ) async throws -> Value {
        try requireDatabase(url)
        let opened = try await openHubTables(StorageConfiguration(url: url, migrations: .check), logger: .silent)
        return try await withRunning(opened.service) {
            let end = ContinuousClock.now + .seconds(5)
            while let problem = await opened.readiness() {
                guard ContinuousClock.now < end else { throw CommandFailure(.unreachable, "The database: \(problem)") }
                try await Task.sleep(for: .milliseconds(50))
            }
            return try await body(opened.tables)
        }
    }
}
