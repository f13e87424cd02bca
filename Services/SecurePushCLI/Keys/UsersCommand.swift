import ArgumentParser
import Authentication
import Domain

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
        @Option(
            help: ArgumentHelp("The users file (AUTH_USERS_FILE).", valueName: "file"), completion: .file(),
            transform: filePath)
        var usersFile: String?

        /// The option or the variable that names the file, for messages.
        var origin: String { (usersFile ?? "").isEmpty ? "AUTH_USERS_FILE" : "--users-file" }

        func open() throws -> UsersFile {
            UsersFile(path: try Settings().path(usersFile, "AUTH_USERS_FILE", flag: "--users-file", "users file"))
        }
    }

    private struct Row: Encodable {
        var user: String
        var status: String?
    }

    struct Add: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user with a password from standard input or a file. Creates the users file.",
            discussion: """
                On a terminal it asks for the password twice and does not show it. Without a terminal the first line \
                of standard input is the password. A password has at least 8 characters. A name cannot have a colon. \
                The command warns if the name looks like that of another user.

                EXAMPLES
                  securepush users add alice --users-file users
                  securepush users add alice --users-file users --password-file alice.password
                """)

        @Argument(help: "The name of the user.") var name: String
        @Flag(help: "Replace the password of an existing user.") var replace = false
        @Flag(help: "Accept a password with fewer than 8 characters, for tests.") var allowShort = false
        @OptionGroup var file: FileOptions
        @OptionGroup var password: PasswordOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { (replace ? "user.replace" : "user.add", name) }

        func run(on console: Console) async throws {
            let user = try UserName.parse(name)
            guard UsersFile.canLogIn(user) else {
                throw CommandFailure(
                    .usage, "<name>: the name of a user who logs in with a password cannot have a colon.",
                    hint: "Basic credentials end the name at the first colon. Users with tokens need no entry.")
            }
            let users = try file.open()
            let password = try password.newPassword(of: name, allowsShort: allowShort)
            for other in try CommandFailure.naming(file.origin, { try users.users(like: user) }) {
                console.message(
                    "warning: \(name.printable) looks like the user \(other.text.printable). Names are compared byte "
                        + "for byte, so they are two users.")
            }
            let isKnown = try CommandFailure.naming(file.origin) {
                try users.add(user, password: password, replacing: replace)
            }
            let text = isKnown ? "replaced the password of \(name.printable) in" : "added \(name.printable) to"
            try console.show(Row(user: name, status: isKnown ? "replaced" : "added"), "\(text) \(users.path)")
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
            let users = try file.open()
            let names = try CommandFailure.naming(file.origin) { try users.list() }
            for user in names { try console.show(Row(user: user.text), user.text.printable) }
            if names.isEmpty { console.nothing("\(users.path) has no users. `securepush users add NAME` adds one.") }
        }
    }

    struct Remove: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user.",
            discussion: """
                EXAMPLES
                  securepush users remove alice --users-file users
                """)

        @Argument(help: "The name of the user.") var name: String
        @OptionGroup var file: FileOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("user.remove", name) }

        func run(on console: Console) async throws {
            let user = try UserName.parse(name)
            let users = try file.open()
            try CommandFailure.naming(file.origin) { try users.remove(user) }
            try console.show(Row(user: name, status: "removed"), "removed \(name.printable) from \(users.path)")
        }
    }
}
