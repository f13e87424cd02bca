import ArgumentParser
import SecurePushCore

struct InboxCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List a user's notifications, oldest first.",
        discussion: """
            A device that missed a push sends the same request. It marks nothing as read unless --payloads or
            --mark-read is given. --json prints the service's own response. On a terminal the table is made to fit:
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
        /// The text of a string, otherwise the JSON as it was sent; `nil` if it was not asked for, or not sent.
        var payload: String?

        private enum CodingKeys: String, CodingKey { case id = "Id", createdAt = "CreatedAt", read = "Read" }
    }

    func validate() throws {
        try UserName.validate(user, of: "--user", as: "user")
        try requireRange("--limit", limit, 1...200)
        if payloads && markRead {
            throw ValidationError("Give either --payloads or --mark-read: --payloads marks as read already.")
        }
    }

    func run(on console: Console) async throws {
        let client = try retrieval.client()
        let authorization = try credentials.credentials(of: user).authorization
        if payloads { try StandardOutput.requireRoom(for: limit * ReadCommand.roomForPayload / 8) }
        let response = try await client.request(.get, "/api/notifications?\(query)", authorization: authorization)
        var page = try client.decode(Page.self, from: response)
        if console.isJSON {
            try console.line(response.body.droppingLineEnd)
        } else {
            if payloads { page.addPayloads(of: response.body) }
            let lines = InboxCommand.lines(page.notifications, withPayloads: payloads, width: table.width)
            for line in lines { try console.line(line) }
            if lines.isEmpty { console.nothing(emptiness) }
            console.message("\(page.unread.grouped) unread in total")
            if let next = page.next { console.message("There may be more: --after \(next.oneLine)") }
        }
        let unread = page.notifications.filter { !$0.read }.map(\.id)
        guard markRead, !unread.isEmpty else { return }
        var json = JSONWriter()
        json.object { $0.member("Ids", unread) }
        _ = try await client.request(
            .post, "/api/notifications/read", authorization: authorization, json: json.text)
        console.message("\(unread.count.grouped) marked as read")
    }

    private var emptiness: String {
        let filters = [unread ? "--unread" : nil, after.map { _ in "--after" }].compactMap { $0 }
        let none = "No notifications match."
        return filters.isEmpty ? none : none + " To see more, leave out \(filters.joined(separator: " or "))."
    }

    private var query: String {
        var query = "Limit=\(limit)"
        if unread { query += "&Unread=true" }
        if let after { query += "&After=\(after.id)" }
        if payloads { query += "&include=payload" }
        return query
    }

    /// - Parameter width: of the terminal; `nil` if lines may have any length.
    static func lines(
        _ rows: [Row], withPayloads: Bool = false, width: Int? = nil, now: Timestamp = .now
    ) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["ID", "CREATED", "READ"] + (withPayloads ? ["PAYLOAD"] : []))
        for row in rows {
            let payload = row.payload?.oneLine ?? "(the service cannot open it)"
            let cells = [row.id.oneLine, row.createdAt.oneLine, row.read ? "yes" : "no"]
            table.add(cells + (withPayloads ? [payload] : []))
        }
        let created = ["CREATED"] + rows.map { RelativeTime.text($0.createdAt, now: now) }
        let cut = withPayloads ? [TextTable.Narrowing.cut(column: 3, to: 12)] : []
        table.fit(width, [.replace(column: 1, cells: created)] + cut)
        return table.lines
    }
}

extension InboxCommand.Page {
    /// Takes the payloads from the text of the page, because a decoder would change them.
    mutating func addPayloads(of body: String) {
        let payloads = Array(body.utf8).withUnsafeBufferPointer { bytes -> [String?] in
            guard let reader = try? JSONObjectReader(bytes), let list = reader.member("Notifications", of: reader.value)
            else { return [] }
            return reader.elements(of: list)?.map { entry in
                reader.member("Payload", of: entry).map { reader.text(of: $0) }
            } ?? []
        }
        for (index, payload) in payloads.enumerated() where notifications.indices.contains(index) {
            notifications[index].payload = payload
        }
    }
}
