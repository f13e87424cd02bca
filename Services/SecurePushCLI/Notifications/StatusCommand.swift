import ArgumentParser
import Domain
import Foundations

struct StatusCommand: SenderCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status of a notification and of its delivery per platform.",
        discussion: """
            Needs the API key of the notification's sender: other senders' notifications are not found. --json prints \
            the service's own response. "Devices" counts those that the recipient has registered now. The column \
            OUTCOME appears if the hub has reported an outcome. On a terminal the table is made to fit: times become \
            relative, the hub's message IDs are left out, and reasons follow the table. Exit codes: 0 shown, 1 not found, 69 no answer.

            EXAMPLES
              securepush status 01890a5d-ac96-774b-bcce-b302099a8057
              securepush status --json 01890a5d-ac96-774b-bcce-b302099a8057
            """)

    @Argument(help: "The ID of the notification, such as \(IDArgument.example).")
    var id: IDArgument

    @OptionGroup var table: TableOptions
    @OptionGroup var sender: SenderOptions

    func run(on console: Console) async throws {
        let (answer, text) = try await ingest.client().get(
            "/api/notifications/\(id.id)/status", as: Wire.Status.self)
        if console.isJSON { return try console.line(text.droppingLineEnd) }
        for line in StatusCommand.lines(answer, width: table.width, console.styled) { try console.line(line) }
    }

    /// The facts about the notification, then a table of its deliveries.
    static func lines(
        _ answer: Wire.Status, width: Int? = nil, now: Timestamp = .now, _ styled: (String, Style) -> String
    ) -> [String] {
        let reminders = answer.reminders.map { "\($0.sent) sent" + ($0.next.map { ", next \($0)" } ?? "") }
        let devices = answer.registeredDevices.map { count in
            count > 0 ? "\(count) registered" : "none registered: is the recipient's name right?"
        }
        let facts = Facts.lines([
            ("ID", answer.id), ("Status", answer.status), ("Created", answer.createdAt), ("Read", answer.readAt),
            ("Shown", answer.shownAt), ("Devices", devices), ("Reminders", reminders),
            ("Answer", answer.answer?.line),
        ]) { name, value in name == "Status" ? StatusStyle.styled(value, answer.status, styled) : value }
        let deliveries = DeliveryReport.lines(answer.deliveries, width: width, now: now)
        return facts + (deliveries.isEmpty ? [] : [""] + deliveries)
    }
}

extension Wire.Status.Answer {
    /// `approve "with a text" at … by device …`.
    var line: String {
        if failed == true { return "none: too many challenges were wrong" }
        return [
            action?.printable, text.map { "\"\($0.printable)\"" }, at.map { "at \($0)" },
            deviceId.map { "by device \($0.printable)" },
        ].compactMap(\.self).joined(separator: " ")
    }
}

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

extension DeliveryReport {
    /// A table with a header; empty without deliveries. Below a narrow one are the reasons, because they are long and
    /// nothing of them may be missing.
    ///
    /// - Parameter width: of the terminal; `nil` if lines may have any length.
    static func lines(_ rows: [DeliveryReport], width: Int? = nil, now: Timestamp = .now) -> [String] {
        var columns: [Column<DeliveryReport>] = [
            Column("PLATFORM") { $0.platform }, Column("STATE") { $0.state }, Column("ATTEMPTS") { "\($0.attempts)" },
            Column("UPDATED", isTime: true) { $0.updatedAt }, Column("HUB MESSAGE", .leftOut(1)) { $0.hubMessageId },
            Column("REASON", .leftOut(3)) { $0.error },
        ]
        // These are there only if there is one.
        if rows.contains(where: { $0.outcome != nil }) {
            columns.append(Column("OUTCOME", .cut(2, to: 24)) { $0.outcome })
        }
        if rows.contains(where: { $0.withdrawn != nil }) {
            columns.append(Column("WITHDRAWN", isTime: true) { $0.withdrawn })
        }
        var table = Table(columns, width: width, now: now)
        let lines = table.lines(rows)
        guard table.isNarrowest, let width else { return lines }
        return lines
            + rows.flatMap { row in row.error?.oneLine.wrapped(after: "\(row.platform.oneLine):", to: width) ?? [] }
    }
}
