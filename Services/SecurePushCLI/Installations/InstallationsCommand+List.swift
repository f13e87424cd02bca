import ArgumentParser
import Domain
import Storage

extension InstallationsCommand {
    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the installations and registrations of the database, without their handles.",
            discussion: """
                SEEN is the day (UTC) on which the device last registered or renewed its registration. A registration \
                without a platform is an ID whose device has not registered yet, or was given up by the hub. With \
                --json a device that has registered a key for end-to-end encryption has its public key, as a JSON Web \
                Key.

                EXAMPLES
                  securepush installations list --user alice
                  DATABASE_URL=postgres://db/securepush securepush installations list --json \\
                      | wc -l
                """)

        @OptionGroup var selection: StoredDeviceOptions
        @OptionGroup var table: TableOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let width = table.width
            try await selection.withDevices { devices in
                var table = Table(Self.columns, width: width)
                for try await page in devices {
                    if console.isJSON {
                        for device in page { try console.line(device.json(withContent: false)) }
                    } else {
                        for line in table.lines(page) { try console.line(line) }
                    }
                }
                if table.isEmpty { console.nothing("No devices match.") }
            }
        }

        static var columns: [Column<StoredDevice>] {
            [
                Column("KIND", width: 12) { "\($0.reference.kind)" },
                Column("PLATFORM") { $0.platform },
                Column("UPDATED", width: 24, .leftOut(1)) { "\($0.updatedAt)" },
                Column("SEEN", width: 10, .leftOut(3)) { String("\($0.seenAt)".prefix(10)) },
                Column("ID") { $0.reference.id },
                // Of any length, so it comes last.
                Column("USER", .cut(2, to: 8)) { $0.owner.text },
            ]
        }
    }

    struct Export: AuditedCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Print all installations and registrations of the database as NDJSON.",
            discussion: """
                Each line is a device with everything that the database has of it, including its handle: a vendor's \
                address of a person's device. Protect the output.

                EXAMPLES
                  securepush installations export > devices.ndjson
                  securepush installations export --user alice | jq -r .Id
                """)

        @OptionGroup var selection: StoredDeviceOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("installations.export", nil) }

        func run(on console: Console) async throws {
            try await selection.withDevices { devices in
                for try await page in devices {
                    for device in page { try console.line(device.json(withContent: true)) }
                }
            }
        }
    }
}

/// Which devices of the database a command reads.
struct StoredDeviceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only devices of this user.", valueName: "name"))
    var user: String?

    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        if let user { try UserName.validate(user, of: "--user", as: "user") }
    }

    func withDevices(_ body: @escaping @Sendable (StoredDevices) async throws -> Void) async throws {
        let owner = try user.map { try UserName.parse($0, of: "--user") }
        try await StoreSession.with(database.url) { store in
            try await body(StoredDevices(store: store, owner: owner, pageSize: 200))
        }
    }
}
