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

            EXAMPLES
              securepush setup --directory .securepush
              DATABASE_URL=postgres://... securepush setup --directory /var/lib/securepush --migrate
            """)

    @Option(help: ArgumentHelp("Where the folder `secrets` goes.", valueName: "dir"))
    var directory: String

    @Option(help: ArgumentHelp("The hub emulator's address in its connection string.", valueName: "url"))
    var hubEndpoint = "http://127.0.0.1:8090/"

    @Flag(help: "Run pending database migrations too (DATABASE_URL).")
    var migrate = false

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Answer: Encodable {
        var Files: [String]
        var Migrations: [String]
    }

    func run(on console: Console) async throws {
        let setup = LocalSetup(directory: directory, hubEndpoint: hubEndpoint)
        let files = try setup.run()
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
}
