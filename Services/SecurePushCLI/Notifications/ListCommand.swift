import ArgumentParser
import SecurePushCore

struct ListCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the notifications of the API key's sender, newest first, without payloads.",
        discussion: """
            --json prints the service's own pages, one per line. A page can hold fewer rows than --limit although more
            follow, because the service searches a limited number of rows per request. On a terminal the table is made
            to fit: times become relative, EXPIRES and then READ are left out, and long recipients are cut.

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

    @OptionGroup var table: TableOptions

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
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
        if let recipient { try UserName.validate(recipient, of: "--recipient", as: "recipient") }
        try requireRange("--limit", limit, 1...200)
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let authorization = try ingest.authorization()
        var next = before?.id.description
        var table = ListTable(width: table.width)
        repeat {
            let response = try await client.request(.get, path(before: next), authorization: authorization)
            let page = try client.decode(Page.self, from: response)
            if console.isJSON {
                try console.line(response.body.droppingLineEnd)
            } else {
                for line in table.lines(page.notifications) { try console.line(line) }
            }
            // The same `next` again would loop forever.
            guard page.next != next else { break }
            next = page.next
        } while all && next != nil
        if table.isEmpty { console.nothing(emptiness) }
        if let next, !console.isJSON { console.message("There may be more: --before \(next.oneLine), or --all.") }
    }

    private var emptiness: String {
        let filters = [
            recipient.map { _ in "--recipient" }, status.map { _ in "--status" }, before.map { _ in "--before" },
        ].compactMap { $0 }
        let none = "No notifications match."
        return filters.isEmpty
            ? none + " A list shows those of the sender that the API key belongs to."
            : none + " To see more, leave out \(filters.joined(separator: " or "))."
    }

    private func path(before: String?) -> String {
        var query = ["Limit=\(limit)"]
        if let recipient { query.append("Recipient=\(PercentCoding.encode(recipient))") }
        if let status { query.append("Status=\(status.rawValue)") }
        if let before { query.append("Before=\(PercentCoding.encode(before))") }
        return "/api/notifications?" + query.joined(separator: "&")
    }
}

/// The table of `securepush list`, page by page.
struct ListTable: Sendable {
    /// `nil` if lines may have any length.
    let width: Int?
    var now = Timestamp.now
    /// Whether no page had a row.
    private(set) var isEmpty = true
    /// The steps that made the first page fit, which later pages take too.
    private var steps = 0

    init(width: Int?, now: Timestamp = .now) {
        self.width = width
        self.now = now
    }

    /// Columns have the same width on every page; the recipient, of any length, comes last.
    mutating func lines(_ rows: [ListCommand.Row]) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        // The spaces reserve the width of the widest status.
        let head = ["ID", "STATUS".padded(to: 10), "CREATED", "EXPIRES", "READ", "RECIPIENT"]
        table.add(head)
        for row in rows {
            table.add([
                row.id.oneLine, row.status.oneLine, row.createdAt.oneLine, row.expiresAt.oneLine,
                row.readAt == nil ? "no" : "yes", row.recipient.oneLine,
            ])
        }
        func relative(_ title: String, _ time: (ListCommand.Row) -> String) -> [String] {
            [title.padded(to: 8)] + rows.map { RelativeTime.text(time($0), now: now) }
        }
        steps = table.fit(
            width,
            [
                .replace(column: 2, cells: relative(head[2]) { $0.createdAt }),
                .replace(column: 3, cells: relative(head[3]) { $0.expiresAt }), .leaveOut(column: 3),
                .leaveOut(column: 4), .cut(column: 5, to: 9), .leaveOut(column: 2),
            ], atLeast: steps)
        let withHead = isEmpty
        isEmpty = false
        return Array(withHead ? table.lines[...] : table.lines.dropFirst())
    }
}
