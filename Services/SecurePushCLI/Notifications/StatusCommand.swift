import ArgumentParser
import SecurePushCore

struct StatusCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status of a notification and of its delivery per platform.",
        discussion: """
            Needs the API key of the notification's sender: other senders' notifications are not found. --json prints
            the service's own response. The column OUTCOME appears if the hub has reported an outcome. On a
            terminal the table is made to fit: times become relative, the hub's message IDs are left out, and reasons
            follow the table. Exit codes: 0 shown, 1 not found, 69 no answer.

            EXAMPLES
              securepush status 01890a5d-ac96-774b-bcce-b302099a8057
              securepush status --json 01890a5d-ac96-774b-bcce-b302099a8057
            """)

    @Argument(help: "The ID of the notification.")
    var id: IDArgument

    @OptionGroup var table: TableOptions
    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    struct Answer: Decodable, Equatable {
        var id: String
        var status: String
        var createdAt: String
        var readAt: String?
        var shownAt: String?
        var deliveries: [DeliveryRow]
        var reminders: Reminders?

        struct Reminders: Decodable, Equatable {
            var sent: Int
            var next: String?

            private enum CodingKeys: String, CodingKey { case sent = "Sent", next = "Next" }
        }

        private enum CodingKeys: String, CodingKey {
            case id = "Id", status = "Status", createdAt = "CreatedAt", readAt = "ReadAt", shownAt = "ShownAt"
            case deliveries = "Deliveries", reminders = "Reminders"
        }
    }

    func run(on console: Console) async throws {
        let client = try ingest.client()
        let response = try await client.request(
            .get, "/api/notifications/\(id.id)/status", authorization: try ingest.authorization())
        if console.isJSON { return try console.line(response.body.droppingLineEnd) }
        let answer = try client.decode(Answer.self, from: response)
        for line in StatusCommand.lines(answer, width: table.width, console.styled) { try console.line(line) }
    }

    /// The facts about the notification, then a table of its deliveries.
    static func lines(
        _ answer: Answer, width: Int? = nil, now: Timestamp = .now, _ styled: (String, Style) -> String
    ) -> [String] {
        var facts = TextTable(isOfWords: true)
        facts.add(["ID", answer.id.oneLine])
        facts.add(["Status", StatusStyle.styled(answer.status.oneLine, answer.status, styled)])
        facts.add(["Created", answer.createdAt.oneLine])
        if let readAt = answer.readAt { facts.add(["Read", readAt.oneLine]) }
        if let shownAt = answer.shownAt { facts.add(["Shown", shownAt.oneLine]) }
        if let reminders = answer.reminders {
            let next = reminders.next.map { ", next \($0.oneLine)" } ?? ""
            facts.add(["Reminders", "\(reminders.sent) sent\(next)"])
        }
        let deliveries = DeliveryRow.table(answer.deliveries, width: width, now: now)
        return facts.lines + (deliveries.isEmpty ? [] : [""] + deliveries)
    }
}

/// The colours of the statuses on a terminal.
enum StatusStyle {
    static func styled(_ text: String, _ status: String, _ styled: (String, Style) -> String) -> String {
        let style: Style? =
            switch status {
            case "read", "dispatched": .green
            case "failed", "partial": .red
            case "expired", "revoked": .yellow
            default: nil
            }
        return style.map { styled(text, $0) } ?? text
    }
}

/// The delivery to one platform, from the status route or from the store.
struct DeliveryRow: Codable, Sendable, Equatable {
    var platform: String
    var state: String
    var attempts: Int
    var hubMessageId: String?
    var outcome: String?
    var coalescedInto: String?
    var error: String?
    var updatedAt: String
    var withdrawn: String?

    private enum CodingKeys: String, CodingKey {
        case platform = "Platform", state = "State", attempts = "Attempts", hubMessageId = "HubMessageId"
        case outcome = "Outcome", coalescedInto = "CoalescedInto"
        case error = "Error", updatedAt = "UpdatedAt", withdrawn = "Withdrawn"
    }

    init(_ delivery: Delivery) {
        platform = delivery.platform.rawValue
        state = delivery.state.rawValue
        attempts = delivery.attempts
        hubMessageId = delivery.hubMessageID
        outcome = delivery.outcome
        coalescedInto = delivery.coalescedInto?.description
        error = delivery.error
        updatedAt = delivery.updatedAt.description
        withdrawn = delivery.withdrawnAt?.description
    }

    /// A table with a header; empty without deliveries. Below a narrow one are the reasons, because they are long and
    /// nothing of them may be missing.
    ///
    /// - Parameter width: of the terminal; `nil` if lines may have any length.
    static func table(_ rows: [DeliveryRow], width: Int? = nil, now: Timestamp = .now) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        // The columns of outcomes and of withdrawals are there only if there is one.
        let hasOutcome = rows.contains { $0.outcome != nil }
        let isWithdrawn = rows.contains { $0.withdrawn != nil }
        let header = ["PLATFORM", "STATE", "ATTEMPTS", "UPDATED", "HUB MESSAGE", "REASON"]
        table.add(header + (hasOutcome ? ["OUTCOME"] : []) + (isWithdrawn ? ["WITHDRAWN"] : []))
        for row in rows {
            let columns = [
                row.platform.oneLine, row.state.oneLine, "\(row.attempts)", row.updatedAt.oneLine,
                row.hubMessageId?.oneLine ?? "-", row.error?.oneLine ?? "-",
            ]
            table.add(
                columns + (hasOutcome ? [row.outcome?.oneLine ?? "-"] : [])
                    + (isWithdrawn ? [row.withdrawn?.oneLine ?? "-"] : []))
        }
        func relative(_ title: String, _ time: (DeliveryRow) -> String?) -> [String] {
            [title] + rows.map { time($0).map { RelativeTime.text($0, now: now) } ?? "-" }
        }
        var steps: [TextTable.Narrowing] = [
            .replace(column: 3, cells: relative(header[3]) { $0.updatedAt }),
            .replace(column: hasOutcome ? 7 : 6, cells: relative("WITHDRAWN") { $0.withdrawn }), .leaveOut(column: 4),
        ]
        if hasOutcome { steps.append(.cut(column: 6, to: 24)) }
        steps.append(.leaveOut(column: 5))
        guard table.fit(width, steps) == steps.count, let width else { return table.lines }
        return table.lines
            + rows.flatMap { row in
                row.error.map { reasonLines("\(row.platform.oneLine): ", $0.oneLine, width) } ?? []
            }
    }

    private static func reasonLines(_ platform: String, _ reason: String, _ width: Int) -> [String] {
        TextFill.fill(TextFill.words(reason), first: platform, hang: 2, to: width)
    }
}
