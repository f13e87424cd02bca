import ArgumentParser
import Storage

struct SetupCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Make what a local stack needs: keys, a sender, demo users, the emulator's connection string.",
        discussion: """
            Makes only what is missing in DIR/secrets (mode 0700, files 0600), so that it can run before every start.
            The sender is `demo` (ingest-api-key); the users are alice and bob (alice.password, bob.password).

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
        let files = try LocalSetup(directory: directory, hubEndpoint: hubEndpoint).run()
        let migrations = migrate ? try await Migrations.run(Migrations.url()).applied : []
        if console.isJSON { return try console.show(Answer(Files: files, Migrations: migrations), "") }
        for file in files { console.line("made \(file)") }
        for migration in migrations { console.line("migrated \(migration)") }
        if files.isEmpty && migrations.isEmpty { console.line("nothing was missing") }
    }
}
