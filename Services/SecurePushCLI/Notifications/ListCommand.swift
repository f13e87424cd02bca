import ArgumentParser
import SecurePushCore

struct ListCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the notifications of a sender, newest first, without payloads.",
        discussion: """
            Those of the API key's sender. With --json the service's own pages, one a line. A page may hold fewer than
            asked for and still have a next one, for the service looks through a bounded number at a time.

            EXAMPLES
              securepush list
              securepush list --recipient alice --status failed
              securepush list --all --json | jq -r '.Notifications[].Id'
              securepush list --before 01890a5d-ac96-774b-bcce-b302099a8057 --limit 10
            """)

    @Option(help: ArgumentHelp("Only this recipient's.", valueName: "name"))
    var recipient: String?

    @Option(help: ArgumentHelp("Only those of this status.", valueName: "status"))
    var status: NotificationStatus?

    @Option(help: ArgumentHelp("Only those older than this one.", valueName: "id"))
    var before: IDArgument?

    @Option(help: ArgumentHelp("How many a page, 1 to 200.", valueName: "n"))
    var limit = 50

    @Flag(help: "Go on to the last page.")
    var all = false

    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    struct Page: Decodable, Equatable {
        var Notifications: [Row]
        var Next: String?
    }

    struct Row: Decodable, Equatable {
        var Id: String
        var Recipient: String
        var Status: String
        var CreatedAt: String
        var ExpiresAt: String
        var ReadAt: String?
    }

    func validate() throws {
        if let recipient, UserName(recipient) == nil {
            throw ValidationError("A recipient has 1 to 1,024 bytes and no control characters.")
        }
        if !(1...200).contains(limit) { throw ValidationError("--limit is 1 to 200.") }
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let authorization = try ingest.credentials().authorization
        var next = before?.id.description
        var isFirst = true
        repeat {
            let answer = try await client.send(.get, path(before: next), authorization: authorization)
            guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: client.service) }
            let page = try client.decode(Page.self, from: answer)
            if console.isJSON {
                console.line(answer.body.droppingLineEnd)
            } else {
                for line in ListCommand.lines(page.Notifications, withHead: isFirst) { console.line(line) }
            }
            if !page.Notifications.isEmpty { isFirst = false }
            // A page that does not go on would be asked for without end.
            guard page.Next != next else { return }
            next = page.Next
        } while all && next != nil
        if let next, !console.isJSON { console.message("There may be more: --before \(next.oneLine), or --all.") }
    }

    private func path(before: String?) -> String {
        var query = ["Limit=\(limit)"]
        if let recipient { query.append("Recipient=\(recipient.urlEncoded)") }
        if let status { query.append("Status=\(status.rawValue)") }
        if let before { query.append("Before=\(before.urlEncoded)") }
        return "/api/notifications?" + query.joined(separator: "&")
    }

    /// All cells but the last have the same width on every page, and the recipient comes last.
    static func lines(_ rows: [Row], withHead: Bool) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        // As wide as the widest status, for pages that are printed one after another.
        table.add(["ID", "accepted".padded(to: 10), "CREATED", "EXPIRES", "READ", "RECIPIENT"])
        for row in rows {
            table.add([
                row.Id.oneLine, row.Status.oneLine, row.CreatedAt.oneLine, row.ExpiresAt.oneLine,
                row.ReadAt == nil ? "no" : "yes", row.Recipient.oneLine,
            ])
        }
        let lines = table.lines
        let head = lines[0].replacing("accepted", with: "STATUS  ")
        return (withHead ? [head] : []) + lines.dropFirst()
    }
}
