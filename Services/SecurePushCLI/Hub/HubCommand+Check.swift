import ArgumentParser
import Hub
import Storage

extension HubCommand {
    struct Check: NetworkCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask each push service whether the hub's credentials are good.",
            discussion: """
                Reads PUSH_CREDENTIALS_FILE as the service does, and sends each push service a push for a device that \
                cannot exist. Nothing reaches a person. With DATABASE_URL it asks APNs with the token that the hub \
                has: APNs takes a new one only every 20 minutes. Exit codes: 0 all are good, 1 one is refused, 69 one \
                does not answer, 78 the file cannot be used.

                EXAMPLES
                  securepush hub check
                  securepush hub check securepush --json
                """)

        @Argument(help: "The name of a hub; all hubs without it.") var name: String?

        @Option(
            help: ArgumentHelp("The file of the credentials (PUSH_CREDENTIALS_FILE).", valueName: "file"),
            completion: .file(), transform: filePath)
        var credentialsFile: String?

        @OptionGroup(title: "Service") var network: NetworkOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let settings = Settings()
            let path = try settings.path(
                credentialsFile, "PUSH_CREDENTIALS_FILE", flag: "--credentials-file", "file of credentials")
            let outgoing = try settings.outgoing()
            let all = try CommandFailure.naming(credentialsFile == nil ? "PUSH_CREDENTIALS_FILE" : "--credentials-file")
            {
                try HubTools.platforms(ofCredentialsFile: path, outgoing: outgoing)
            }
            let chosen = all.filter { platform in name.map { $0.lowercased() == platform.hub.lowercased() } ?? true }
            guard !chosen.isEmpty else {
                throw CommandFailure(
                    .failed,
                    name.map { "The file has no credentials of the hub \($0.printable)." }
                        ?? "The file has no credentials.")
            }
            let rows = await CredentialRow.all(chosen, databaseURL: settings["DATABASE_URL"])
            var table = Table(CredentialRow.columns)
            try console.show(rows, in: &table)
            if rows.contains(where: { $0.state == .refused }) { throw CommandFailure.Code.failed.exitCode }
            if rows.contains(where: { $0.state == .unknown }) { throw CommandFailure.Code.unreachable.exitCode }
        }
    }
}

/// The result of a push service's check of a hub's credentials.
struct CredentialRow: Encodable, Sendable, Equatable {
    enum State: String, Encodable, Sendable {
        case good, simulated, refused
        /// The push service does not answer, or not clearly.
        case unknown
    }

    var hub: String
    var platform: String
    var state: State
    var reason: String?

    private static let limit = Duration.seconds(20)

    init(hub: String, platform: String, state: State, reason: String? = nil) {
        (self.hub, self.platform, self.state, self.reason) = (hub, platform, state, reason)
    }

    /// Asks the push services.
    ///
    /// - Parameter databaseURL: of the hub's database; without one, or if it cannot be used, none is.
    static func all(_ platforms: [HubTools.Platform], databaseURL: String?) async -> [CredentialRow] {
        @Sendable func ask(_ tables: HubTables?) async -> [CredentialRow] {
            var rows: [CredentialRow] = []
            for platform in platforms { rows.append(await CredentialRow(platform, tables)) }
            return rows
        }
        if let databaseURL, platforms.contains(where: { $0.name == "apns" && !$0.isSimulated }),
            let rows = try? await StoreSession.withHubTables(databaseURL, { await ask($0) })
        {
            return rows
        }
        return await ask(nil)
    }

    /// Asks the push service.
    private init(_ platform: HubTools.Platform, _ tables: HubTables?) async {
        (hub, self.platform, state) = (platform.hub, platform.name, .simulated)
        if platform.isSimulated { return }
        let (isGood, reason) = await platform.check(tables: tables, deadline: .now + Self.limit)
        state = isGood.map { $0 ? .good : .refused } ?? .unknown
        self.reason = reason
    }

    static var columns: [Column<CredentialRow>] {
        [
            Column("HUB") { $0.hub }, Column("PLATFORM") { $0.platform }, Column("CREDENTIALS") { $0.state.rawValue },
            Column("REASON") { $0.reason },
        ]
    }
}
