import ArgumentParser
import SecurePushCore

struct InboxCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List what waits for a user, oldest first, without payloads; marks nothing as read.",
        discussion: """
            What a device asks that missed a push. With --json the service's own answer.

            EXAMPLES
              securepush inbox --user alice --password-file alice.password
              securepush inbox --user alice --token-file alice.token --unread
              RETRIEVAL_TOKEN=... securepush inbox --user alice --limit 10 --json
            """)

    @Option(help: ArgumentHelp("The user.", valueName: "name"))
    var user: String

    @Flag(help: "Only what was not read.")
    var unread = false

    @Option(help: ArgumentHelp("Only what is newer than this one.", valueName: "id"))
    var after: IDArgument?

    @Option(help: ArgumentHelp("How many, 1 to 200.", valueName: "n"))
    var limit = 50

    @OptionGroup var credentials: UserCredentialOptions
    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    struct Page: Decodable, Equatable {
        var Notifications: [Row]
        var Unread: Int
        var Next: String?
    }

    struct Row: Decodable, Equatable {
        var Id: String
        var CreatedAt: String
        var Read: Bool
    }

    func validate() throws {
        if UserName(user) == nil {
            throw ValidationError("A user's name has 1 to 1,024 bytes and no control characters.")
        }
        if !(1...200).contains(limit) { throw ValidationError("--limit is 1 to 200.") }
    }

    func run(on console: Console) async throws {
        let client = try retrieval.client()
        var query = "Limit=\(limit)"
        if unread { query += "&Unread=true" }
        if let after { query += "&After=\(after.id)" }
        let answer = try await client.send(
            .get, "/api/notifications?\(query)", authorization: try credentials.credentials(of: user).authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: client.service) }
        if console.isJSON { return console.line(answer.body.droppingLineEnd) }
        let page = try client.decode(Page.self, from: answer)
        for line in InboxCommand.lines(page.Notifications) { console.line(line) }
        console.message("\(page.Unread.grouped) unread in all")
        if let next = page.Next { console.message("There may be more: --after \(next.oneLine)") }
    }

    static func lines(_ rows: [Row]) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["ID", "CREATED", "READ"])
        for row in rows { table.add([row.Id.oneLine, row.CreatedAt.oneLine, row.Read ? "yes" : "no"]) }
        return table.lines
    }
}
