import ArgumentParser
import SecurePushCore

struct ListCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the notifications of the API key's sender, newest first, without payloads.",
        discussion: """
            --json prints the service's own pages, one per line. A page can hold fewer rows than --limit although more
            follow, because the service searches a limited number of rows per request.

            EXAMPLES
              securepush list
              securepush list --recipient alice --status failed
              securepush list --all --json | jq -r '.Notifications[].Id'
              securepush list --before 01890a5d-ac96-774b-bcce-b302099a8057 --limit 10
            """)

    @Option(help: ArgumentHelp("Only notifications for this recipient.", valueName: "name"))
    var recipient: String?

    @Option(help: ArgumentHelp("Only notifications with this status.", valueName: "status"))
    var status: NotificationStatus?

    @Option(help: ArgumentHelp("Only notifications older than this one.", valueName: "id"))
    var before: IDArgument?

    @Option(help: ArgumentHelp("Notifications per page, 1 to 200.", valueName: "n"))
    var limit = 50

    @Flag(help: "Print all pages.")
    var all = false

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    struct Page: Decodable, Equatable {
        var notifications: [Row]
        var next: String?

        private enum CodingKeys: String, CodingKey { case notifications = "Notifications", next = "Next" }
    }

    struct Row: Decodable, Equatable {
        var id: String
        var recipient: String
        var status: String
        var createdAt: String
        var expiresAt: String
        var readAt: String?

        private enum CodingKeys: String, CodingKey {
            case id = "Id", recipient = "Recipient", status = "Status", createdAt = "CreatedAt", expiresAt = "ExpiresAt"
            case readAt = "ReadAt"
        }
    }

    func validate() throws {
        if let recipient { try UserName.validate(recipient, as: "recipient") }
        try requireRange("--limit", limit, 1...200)
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let authorization = try ingest.authorization()
        var next = before?.id.description
        var isFirst = true
        repeat {
            let response = try await client.request(.get, path(before: next), authorization: authorization)
            let page = try client.decode(Page.self, from: response)
            if console.isJSON {
                console.line(response.body.droppingLineEnd)
            } else {
                for line in ListCommand.lines(page.notifications, withHead: isFirst) { console.line(line) }
            }
            if !page.notifications.isEmpty { isFirst = false }
            // The same `next` again would loop forever.
            guard page.next != next else { return }
            next = page.next
        } while all && next != nil
        if let next, !console.isJSON { console.message("There may be more: --before \(next.oneLine), or --all.") }
    }

    private func path(before: String?) -> String {
        var query = ["Limit=\(limit)"]
        if let recipient { query.append("Recipient=\(PercentCoding.encode(recipient))") }
        if let status { query.append("Status=\(status.rawValue)") }
        if let before { query.append("Before=\(PercentCoding.encode(before))") }
        return "/api/notifications?" + query.joined(separator: "&")
    }

    /// Columns have the same width on every page; the recipient, of any length, comes last.
    static func lines(_ rows: [Row], withHead: Bool) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        // "accepted" reserves the width of the widest status.
        table.add(["ID", "accepted".padded(to: 10), "CREATED", "EXPIRES", "READ", "RECIPIENT"])
        for row in rows {
            table.add([
                row.id.oneLine, row.status.oneLine, row.createdAt.oneLine, row.expiresAt.oneLine,
                row.readAt == nil ? "no" : "yes", row.recipient.oneLine,
            ])
        }
        let lines = table.lines
        let head = lines[0].replacing("accepted", with: "STATUS  ")
        return (withHead ? [head] : []) + lines.dropFirst()
    }
}
