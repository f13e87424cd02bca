import ArgumentParser
import Domain
import Foundations
import SecurePushClient

struct InboxCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List a user's notifications, oldest first.",
        discussion: """
            A device that missed a push sends the same request. It marks nothing as read unless --payloads or \
            --mark-read is given. --json prints the service's own response. On a terminal the table is made to fit: \
            times become relative and long payloads are cut; `securepush read` prints a whole one.

            EXAMPLES
              securepush inbox --user alice --password-file alice.password
              securepush inbox --user alice --token-file alice.token --unread
              securepush inbox --user alice --token-file alice.token --unread --payloads
              RETRIEVAL_TOKEN=... securepush inbox --user alice --limit 10 --json
            """)

    @Option(help: ArgumentHelp("The user.", valueName: "name"))
    var user: String

    @Flag(help: "Only unread notifications.")
    var unread = false

    @Flag(help: "Show the payloads and mark the notifications as read; at most 20 per page.")
    var payloads = false

    @Flag(help: "Mark the listed notifications as read without fetching them.")
    var markRead = false

    @Option(help: ArgumentHelp("Only notifications newer than this one.", valueName: "id"))
    var after: IDArgument?

    @Option(help: ArgumentHelp("Maximum number, 1 to 200.", valueName: "n"))
    var limit = 50

    @OptionGroup var table: TableOptions
    @OptionGroup var credentials: UserCredentialOptions
    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    static func columns(withPayloads: Bool) -> [Column<Wire.InboxPage.Row>] {
        let payload = Column<Wire.InboxPage.Row>("PAYLOAD", .cut(1, to: 12)) {
            $0.payload ?? "(the service cannot open it)"
        }
        return [
            Column("ID") { $0.id }, Column("CREATED", isTime: true) { $0.createdAt },
            Column("READ") { $0.read ? "yes" : "no" },
        ] + (withPayloads ? [payload] : [])
    }

    func validate() throws {
        try UserName.validate(user, of: "--user", as: "user")
        try requireRange("--limit", limit, 1...200)
        if payloads && markRead {
            throw ValidationError("Give either --payloads or --mark-read: --payloads marks as read already.")
        }
    }

    func run(on console: Console) async throws {
        let client = try retrieval.client(try credentials.credentials(of: user).authorization)
        if payloads { try StandardOutput.requireRoom(for: limit * ReadCommand.roomForPayload / 8) }
        var (page, text) = try await client.get(
            "/api/notifications",
            [
                ("Limit", "\(limit)"), ("Unread", unread ? "true" : nil), ("After", after?.id.description),
                ("include", payloads ? "payload" : nil),
            ], as: Wire.InboxPage.self)
        if payloads { page.addPayloads(of: text) }
        var table = Table(Self.columns(withPayloads: payloads), width: table.width)
        try console.show(page.notifications, of: text, in: &table)
        if !console.isJSON {
            if table.isEmpty {
                console.nothing(matching: "notifications", ["--unread": unread, "--after": after != nil])
            }
            console.message("\(page.unread.grouped) unread in total")
            if let next = page.next { console.message("There may be more: --after \(next.oneLine)") }
        }
        let unread = page.notifications.filter { !$0.read }.map(\.id)
        guard markRead, !unread.isEmpty else { return }
        var json = JSONWriter()
        json.object { $0.member("Ids", unread) }
        _ = try await client.request(.post, "/api/notifications/read", json: json.text)
        console.message("\(unread.count.grouped) marked as read")
    }
}
