import ArgumentParser
import Authentication

struct APIKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-keys",
        abstract: "Add, list and remove the keys of senders.",
        discussion: """
            EXAMPLES
              securepush api-keys add billing --api-keys-file api-keys > billing.key
              securepush api-keys remove billing
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct FileOptions: ParsableArguments {
        @Option(
            name: .customLong("api-keys-file"),
            help: ArgumentHelp("The file of API keys (INGEST_API_KEYS_FILE).", valueName: "file"))
        var apiKeysFile: String?

        func open() throws -> APIKeysFile {
            APIKeysFile(path: try FileOption.path(apiKeysFile, "INGEST_API_KEYS_FILE", flagName: "--api-keys-file"))
        }
    }

    struct Add: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a sender's key and print it, this once; the file keeps its hash.",
            discussion: """
                EXAMPLES
                  securepush api-keys add billing --api-keys-file api-keys > billing.key
                """)

        @Argument(help: "The sender's name.") var name: String
        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            struct Answer: Encodable {
                var Name: String
                var Key: String
            }
            let keys = try file.open()
            let key = try keys.add(name)
            try console.show(Answer(Name: name, Key: key), key)
            console.message("This key is shown once; \(keys.path) keeps only its hash.")
        }
    }

    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the senders, one a line.",
            discussion: """
                EXAMPLES
                  securepush api-keys list --api-keys-file api-keys
                """)

        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            struct Row: Encodable { var Name: String }
            for name in try file.open().list() { try console.show(Row(Name: name), name) }
        }
    }

    struct Remove: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove all keys of a sender.",
            discussion: """
                EXAMPLES
                  securepush api-keys remove billing --api-keys-file api-keys
                """)

        @Argument(help: "The sender's name.") var name: String
        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            struct Answer: Encodable {
                var Name: String
                var Status: String
            }
            let keys = try file.open()
            try keys.remove(name)
            try console.show(Answer(Name: name, Status: "removed"), "removed \(name.printable) from \(keys.path)")
        }
    }
}
