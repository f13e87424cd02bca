import ArgumentParser
import Authentication

struct APIKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-keys",
        abstract: "Add, list and remove the API keys of senders.",
        discussion: """
            EXAMPLES
              securepush api-keys add billing --api-keys-file api-keys > billing.key
              securepush api-keys remove billing
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct FileOptions: ParsableArguments {
        @Option(
            name: .customLong("api-keys-file"),
            help: ArgumentHelp("The API keys file (INGEST_API_KEYS_FILE).", valueName: "file"), completion: .file(),
            transform: filePath)
        var apiKeysFile: String?

        /// The option or the variable that names the file, for messages.
        var origin: String { (apiKeysFile ?? "").isEmpty ? "INGEST_API_KEYS_FILE" : "--api-keys-file" }

        func open() throws -> APIKeysFile {
            APIKeysFile(
                path: try Settings().path(apiKeysFile, "INGEST_API_KEYS_FILE", flag: "--api-keys-file", "API keys file")
            )
        }
    }

    private struct Row: Encodable {
        var name: String
        var key: String?
        var status: String?
    }

    struct Add: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an API key for a sender and print it once. The file keeps only its hash.",
            discussion: """
                EXAMPLES
                  securepush api-keys add billing --api-keys-file api-keys > billing.key
                """)

        @Argument(help: "The name of the sender.") var name: String
        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("api-key.add", name) }

        func run(on console: Console) async throws {
            let keys = try file.open()
            try CommandFailure.naming(file.origin) {
                // Shown first: a key that is stored and was not seen is lost, and its name is taken.
                _ = try keys.add(name) { key in try console.showOnce(Row(name: name, key: key), key) }
            }
            console.message("This key is shown only once: \(keys.path) keeps only its hash.")
        }
    }

    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the senders, one per line.",
            discussion: """
                EXAMPLES
                  securepush api-keys list --api-keys-file api-keys
                """)

        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let keys = try file.open()
            let names = try CommandFailure.naming(file.origin) { try keys.list() }
            for name in names { try console.show(Row(name: name), name) }
            if names.isEmpty { console.nothing("\(keys.path) has no keys. `securepush api-keys add NAME` adds one.") }
        }
    }

    struct Remove: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove all API keys of a sender.",
            discussion: """
                EXAMPLES
                  securepush api-keys remove billing --api-keys-file api-keys
                """)

        @Argument(help: "The name of the sender.") var name: String
        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("api-key.remove", name) }

        func run(on console: Console) async throws {
            let keys = try file.open()
            try CommandFailure.naming(file.origin) { try keys.remove(name) }
            try console.show(Row(name: name, status: "removed"), "removed \(name.printable) from \(keys.path)")
        }
    }
}
