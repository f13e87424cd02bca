import ArgumentParser
import Authentication
import SecurePushCore

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Add, list and remove users with passwords (Basic authentication).",
        discussion: """
            EXAMPLES
              securepush users add alice --users-file users
              securepush users add bob --password-file bob.password
              securepush users list --json
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct FileOptions: ParsableArguments {
        @Option(help: ArgumentHelp("The users file (AUTH_USERS_FILE).", valueName: "file"))
        var usersFile: String?

        func open() throws -> UsersFile {
            UsersFile(path: try Settings().path(usersFile, "AUTH_USERS_FILE", flag: "--users-file"))
        }
    }

    private struct Row: Encodable {
        var user: String
        var status: String?

        private enum CodingKeys: String, CodingKey { case user = "User", status = "Status" }
    }

    struct Add: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user with a password from standard input or a file. Creates the users file.",
            discussion: """
                EXAMPLES
                  securepush users add alice --users-file users --password-file alice.password
                """)

        @Argument(help: "The name of the user.") var name: String
        @Flag(help: "Replace the password of an existing user.") var replace = false
        @OptionGroup var file: FileOptions
        @OptionGroup var password: PasswordOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let user = try UserName.parse(name)
            let users = try file.open()
            try users.add(user, password: try password.password(of: name), replacing: replace)
            try console.show(Row(user: name, status: "added"), "added \(name.printable) to \(users.path)")
        }
    }

    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the users, one per line.",
            discussion: """
                EXAMPLES
                  securepush users list --users-file users
                """)

        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            for user in try file.open().list() { try console.show(Row(user: user.text), user.text.printable) }
        }
    }

    struct Remove: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user.",
            discussion: """
                EXAMPLES
                  securepush users remove alice --users-file users
                """)

        @Argument(help: "The name of the user.") var name: String
        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let user = try UserName.parse(name)
            let users = try file.open()
            try users.remove(user)
            try console.show(Row(user: name, status: "removed"), "removed \(name.printable) from \(users.path)")
        }
    }
}
