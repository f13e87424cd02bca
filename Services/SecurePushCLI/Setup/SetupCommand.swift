import ArgumentParser
import Foundation
import Storage

struct SetupCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Make what a local stack needs: keys, a sender, demo users, the emulator's connection string.",
        discussion: """
            Makes only what is missing in DIR/secrets (mode 0700, files 0600), so that it can run before every start.
            The sender is `demo` (ingest-api-key); the users are alice and bob (alice.password, bob.password).
            hub-emulator-certificate.pem and hub-emulator-key.pem let the hub emulator speak TLS on this machine, for
            clients that take https only; they trust hub-emulator-ca.pem. It is good for a year and made anew when less
            than 30 days are left.

            With --services each service gets a folder of its own in that DIR, with copies of the files that it works
            with, and with the URLs of its own role in the database and its own user of the broker. Passwords are made
            in DIR/admin. What has changed since is handed over again, so run it after each change of a file.

            EXAMPLES
              securepush setup --directory .securepush
              DATABASE_URL=postgres://... securepush setup --directory /var/lib/securepush --migrate
              securepush setup --directory /state --services /services --database db:5432/securepush --broker mq:5672
            """,
        subcommands: [DatabaseRolesCommand.self, BrokerUsersCommand.self])

    @Option(help: ArgumentHelp("Where the folder `secrets` goes.", valueName: "dir"))
    var directory: String?

    @Option(help: ArgumentHelp("The hub emulator's address in its connection string.", valueName: "url"))
    var hubEndpoint = "http://127.0.0.1:8090/"

    @Flag(help: "Run pending database migrations too (DATABASE_URL).")
    var migrate = false

    @Option(help: ArgumentHelp("Also give each service a folder of its own in this one.", valueName: "dir"))
    var services: String?

    @Option(help: ArgumentHelp("The database in the services' URLs.", valueName: "host:port/name"))
    var database: String?

    @Option(help: ArgumentHelp("The broker in the services' URLs.", valueName: "host:port"))
    var broker: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Answer: Encodable {
        var Files: [String]
        var Migrations: [String]
    }

    func run(on console: Console) async throws {
        guard let directory else {
            throw CommandFailure(.usage, "--directory is needed.", hint: "Name the folder that `secrets` goes into.")
        }
        let setup = LocalSetup(directory: directory, hubEndpoint: hubEndpoint)
        let files = try setup.run() + serviceFiles(setup)
        let migrations = migrate ? try await Migrations.run(Migrations.url()).applied : []
        if console.isJSON { return try console.show(Answer(Files: files, Migrations: migrations), "") }
        for file in files { console.line("made \(file)") }
        if files.contains(setup.hubCertificate.certificateFile) {
            let end = try setup.hubCertificate.goodUntil().ISO8601Format().prefix(10)
            console.line(
                "The hub emulator's certificate is for \(setup.hubCertificate.hosts.joined(separator: ", ")), until "
                    + "\(end). Clients must trust \(setup.hubCertificate.rootFile).")
        }
        for migration in migrations { console.line("migrated \(migration)") }
        if files.isEmpty && migrations.isEmpty { console.line("nothing was missing") }
    }

    private func serviceFiles(_ setup: LocalSetup) throws -> [String] {
        guard let services else { return [] }
        guard let database, let broker, Self.isPlace(database), Self.isPlace(broker), database.contains("/") else {
            throw CommandFailure(
                .usage, "--services needs --database HOST:PORT/NAME and --broker HOST:PORT.",
                hint: "Names and ports only: users and passwords are made.")
        }
        return try ServiceFolders(
            setup: setup, directory: services, database: database, broker: broker, retryDelays: RetryDelays.read()
        ).run()
    }

    /// Whether a text can stand behind the `@` of a URL.
    private static func isPlace(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"@?#".utf8.contains($0) }
    }
}
