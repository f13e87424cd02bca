import ArgumentParser
import SecurePushCore

struct InboxCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List a user's notifications, oldest first, without payloads. Marks nothing as read.",
        discussion: """
            A device that missed a push sends the same request. --json prints the service's own response.

            EXAMPLES
              securepush inbox --user alice --password-file alice.password
              securepush inbox --user alice --token-file alice.token --unread
              RETRIEVAL_TOKEN=... securepush inbox --user alice --limit 10 --json
            """)

    @Option(help: ArgumentHelp("The user.", valueName: "name"))
    var user: String

    @Flag(help: "Only unread notifications.")
    var unread = false

    @Option(help: ArgumentHelp("Only notifications newer than this one.", valueName: "id"))
    var after: IDArgument?

    @Option(help: ArgumentHelp("Maximum number, 1 to 200.", valueName: "n"))
    var limit = 50

    @OptionGroup var credentials: UserCredentialOptions
    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    struct Page: Decodable, Equatable {
        var notifications: [Row]
        var unread: Int
        var next: String?

        private enum CodingKeys: String, CodingKey {
            case notifications = "Notifications", unread = "Unread", next = "Next"
        }
    }

    struct Row: Decodable, Equatable {
        var id: String
        var createdAt: String
        var read: Bool

        private enum CodingKeys: String, CodingKey { case id = "Id", createdAt = "CreatedAt", read = "Read" }
    }

    func validate() throws {
        try UserName.validate(user, as: "user")
        try requireRange("--limit", limit, 1...200)
    }

    func run(on console: Console) async throws {
        let client = try retrieval.client()
        var query = "Limit=\(limit)"
        if unread { query += "&Unread=true" }
        if let after { query += "&After=\(after.id)" }
        let response = try await client.request(
            .get, "/api/notifications?\(query)", authorization: try credentials.credentials(of: user).authorization)
        if console.isJSON { return console.line(response.body.droppingLineEnd) }
        let page = try client.decode(Page.self, from: response)
        for line in InboxCommand.lines(page.notifications) { console.line(line) }
        console.message("\(page.unread.grouped) unread in total")
        if let next = page.next { console.message("There may be more: --after \(next.oneLine)") }
    }

    static func lines(_ rows: [Row]) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["ID", "CREATED", "READ"])
        for row in rows { table.add([row.id.oneLine, row.createdAt.oneLine, row.read ? "yes" : "no"]) }
        return table.lines
    }
}
