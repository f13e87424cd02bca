import ArgumentParser
import Domain

struct ListCommand: SenderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the notifications of the API key's sender, newest first, without payloads.",
        discussion: """
            --json prints the service's own pages, one per line. A page can hold fewer rows than --limit although more \
            follow, because the service searches a limited number of rows per request. On a terminal the table is made \
            to fit: times become relative, EXPIRES and then READ are left out, and long recipients are cut.

            EXAMPLES
              securepush list
              securepush list --recipient alice --status failed
              securepush list --all --json | jq -r '.Notifications[].Id'
              securepush list --before 01890a5d-ac96-774b-bcce-b302099a8057 --limit 10
            """)

    @Option(
        name: [.customLong("recipient"), .customLong("to")],
        help: ArgumentHelp("Only notifications for this recipient.", valueName: "name"))
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
    @OptionGroup var sender: SenderOptions

    static let columns: [Column<Wire.NotificationPage.Row>] = [
        Column("ID") { $0.id },
        Column("STATUS", width: 10) { $0.status },
        Column("CREATED", .leftOut(4), isTime: true) { $0.createdAt },
        Column("EXPIRES", .leftOut(1), isTime: true) { $0.expiresAt },
        Column("READ", .leftOut(2)) { $0.readAt == nil ? "no" : "yes" },
        // Of any length, so it comes last.
        Column("RECIPIENT", .cut(3, to: 9)) { $0.recipient },
    ]

    func validate() throws {
        if let recipient { try UserName.validate(recipient, of: "--recipient", as: "recipient") }
        try requireRange("--limit", limit, 1...200)
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        var next = before?.id.description
        var table = Table(Self.columns, width: table.width)
        repeat {
            let (page, text) = try await client.get(
                "/api/notifications",
                [("Limit", "\(limit)"), ("Recipient", recipient), ("Status", status?.rawValue), ("Before", next)],
                as: Wire.NotificationPage.self)
            try console.show(page.notifications, of: text, in: &table)
            // The same `next` again would loop forever.
            guard page.next != next else { break }
            next = page.next
        } while all && next != nil
        if table.isEmpty {
            console.nothing(
                matching: "notifications",
                ["--recipient": recipient != nil, "--status": status != nil, "--before": before != nil],
                otherwise: " A list shows those of the sender that the API key belongs to.")
        }
        if let next, !console.isJSON { console.message("There may be more: --before \(next.oneLine), or --all.") }
    }
}
