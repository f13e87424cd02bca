import ArgumentParser
import Authentication
import SecurePushCore

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Add, list and remove users with passwords (Basic credentials).",
        discussion: """
            EXAMPLES
              securepush users add alice --users-file users
              securepush users add bob --password-file bob.password
              securepush users list --json
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct FileOptions: ParsableArguments {
        @Option(help: ArgumentHelp("The file of users (AUTH_USERS_FILE).", valueName: "file"))
        var usersFile: String?

        func open() throws -> UsersFile {
            UsersFile(path: try FileOption.path(usersFile, "AUTH_USERS_FILE", flagName: "--users-file"))
        }
    }

    struct Answer: Encodable, Equatable {
        var User: String
        var Status: String
    }

    struct Add: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user; the password comes from standard input or a file. Makes the file.",
            discussion: """
                EXAMPLES
                  securepush users add alice --users-file users --password-file alice.password
                """)

        @Argument(help: "The user's name.") var name: String
        @Flag(help: "Give a user who is there already a new password.") var replace = false
        @OptionGroup var file: FileOptions
        @OptionGroup var password: PasswordOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let user = try UserName.parse(name)
            let users = try file.open()
            try users.add(user, password: try password.password(of: name), replacing: replace)
            try console.show(Answer(User: name, Status: "added"), "added \(name.printable) to \(users.path)")
        }
    }

    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the users, one a line.",
            discussion: """
                EXAMPLES
                  securepush users list --users-file users
                """)

        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            struct Row: Encodable { var User: String }
            for user in try file.open().list() { try console.show(Row(User: user.text), user.text.printable) }
        }
    }

    struct Remove: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user.",
            discussion: """
                EXAMPLES
                  securepush users remove alice --users-file users
                """)

        @Argument(help: "The user's name.") var name: String
        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let user = try UserName.parse(name)
            let users = try file.open()
            try users.remove(user)
            try console.show(Answer(User: name, Status: "removed"), "removed \(name.printable) from \(users.path)")
        }
    }
}

extension UserName {
    /// A name given on the command line.
    static func parse(_ text: String) throws -> UserName {
        guard let user = UserName(text) else {
            throw CommandFailure(.usage, "A user's name has 1 to 1,024 bytes of UTF-8 and no control characters.")
        }
        return user
    }
}
