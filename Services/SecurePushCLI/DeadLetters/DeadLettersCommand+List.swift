import ArgumentParser
import Domain
import Foundations

extension DeadLettersCommand {
    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the dead letters, oldest first. Changes nothing.",
            discussion: """
                With DATABASE_URL it also shows recipient and status. AGE is the time since the notification was \
                dead-lettered, or without a database the time since it was accepted.

                EXAMPLES
                  securepush dead-letters list
                  securepush dead-letters list --platform apple --reason "503" --limit 20
                  securepush dead-letters list --json | jq -r .Id
                """)

        @OptionGroup var selection: DeadLetterSelection

        @Option(help: ArgumentHelp("Maximum number, 1 to 10,000.", valueName: "n"))
        var limit = 100

        @OptionGroup var table: TableOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func validate() throws { try requireRange("--limit", limit, 1...10_000) }

        func run(on console: Console) async throws {
            let found = try await DeadLetterScan.with(console) { scan in
                try await scan.letters(limit) { selection.includes($0) }
            }
            let records = try await Self.records(found.letters.compactMap { $0.message?.id }, database.urlIfGiven)
            let rows = found.letters.map { DeadLetterRow($0, records: records, now: .now) }
            var table = Table(DeadLetterRow.columns(for: rows), width: table.width)
            try console.show(rows, in: &table)
            if console.isJSON { return }
            if rows.isEmpty, found.total > 0 {
                console.nothing("No dead letters match. To see more, leave out --reason, --platform or --unreadable.")
            }
            console.message("\(rows.count.grouped) shown, \(found.total.grouped) dead letters in total")
        }

        /// - Returns: `nil` without a database.
        static func records(
            _ ids: [NotificationID], _ database: String?
        ) async throws -> [NotificationID: NotificationRecord]? {
            guard let database else { return nil }
            return try await StoreSession.with(database) { store in try await store.records(Array(Set(ids))) }
        }
    }

    struct Show: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the dead letters of a notification, and its record in the database.",
            discussion: """
                Exit codes: 0 shown, 1 the notification has no dead letter.

                EXAMPLES
                  securepush dead-letters show 01890a5d-ac96-774b-bcce-b302099a8057
                  securepush dead-letters show 01890a5d-ac96-774b-bcce-b302099a8057 --json
                """)

        @Argument(help: "The ID of the notification, such as \(IDArgument.example).")
        var id: IDArgument

        @OptionGroup var table: TableOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        private struct Report: Encodable {
            var letters: [DeadLetterRow]
            var expiresAt: String?
            var readAt: String?
            var deliveries: [DeliveryReport]?
        }

        func run(on console: Console) async throws {
            let id = id.id
            let letters = try await DeadLetterScan.with(console) { scan in
                try await scan.letters { $0.message?.id == id }.letters
            }
            guard !letters.isEmpty else {
                throw CommandFailure(
                    .failed, "The notification \(id) has no dead letter.",
                    hint: "The sender can see its status with `securepush status \(id)`.")
            }
            let records = try await List.records([id], database.urlIfGiven)
            let record = records?[id]
            let rows = letters.map { DeadLetterRow($0, records: records, now: .now) }
            let deliveries = record?.deliveries.map { DeliveryReport($0, tellsUnanswered: false) }
            if console.isJSON {
                let report = Report(
                    letters: rows, expiresAt: record?.expiresAt.description, readAt: record?.readAt?.description,
                    deliveries: deliveries)
                return try console.show(report, "")
            }
            for line in Self.lines(rows, record?.expiresAt, deliveries ?? [], width: table.width) {
                try console.line(line)
            }
        }

        private static func lines(
            _ rows: [DeadLetterRow], _ expiresAt: Timestamp?, _ deliveries: [DeliveryReport], width: Int?
        ) -> [String] {
            let first = rows.first
            let reasons = rows.map { row in
                ("Dead-lettered", "\(row.platforms?.joined(separator: ",") ?? "all platforms"): \(row.reason)")
            }
            let facts = [
                ("ID", first?.id ?? "-"), ("Recipient", first?.recipient ?? "-"), ("Status", first?.status ?? "-"),
                ("Created", first?.createdAt ?? "-"), ("Expires", expiresAt?.description),
            ]
            return Facts.lines(facts + reasons)
                + (deliveries.isEmpty ? [] : [""] + DeliveryReport.lines(deliveries, width: width))
        }
    }
}

/// A dead letter in a list. Never has a payload or the body of an unreadable message.
struct DeadLetterRow: Encodable, Sendable, Equatable {
    /// `nil` if the message is unreadable.
    var id: String?
    var reason: String
    /// `nil` for all platforms that are not final yet.
    var platforms: [String]?
    var attempt: Int?
    /// When the notification was accepted.
    var createdAt: String?
    /// When the last of its platforms was dead-lettered, from the store.
    var deadAt: String?
    var recipient: String?
    /// `unknown` if the store does not have the notification; `nil` without a store.
    var status: String?
    /// The length of an unreadable body.
    var bytes: Int?
    private var age = "-"

    /// All but the age.
    private enum CodingKeys: CodingKey {
        case id, reason, platforms, attempt, createdAt, deadAt, recipient, status, bytes
    }

    /// - Parameter records: from the store; `nil` without a store.
    init(_ letter: DeadLetter, records: [NotificationID: NotificationRecord]?, now: Timestamp) {
        reason = letter.reason
        guard let message = letter.message else {
            bytes = letter.byteCount
            return
        }
        id = message.id.description
        platforms = message.platforms?.map(\.rawValue)
        attempt = message.attempt
        createdAt = message.id.timestamp.description
        var since = message.id.timestamp
        if let records {
            let record = records[message.id]
            status = record?.status(at: now).rawValue ?? "unknown"
            recipient = record?.recipient.text
            if let time = record?.deliveries.filter({ $0.state == .dead }).map(\.updatedAt).max() {
                deadAt = time.description
                since = time
            }
        }
        age = max(.zero, now - since).spoken
    }

    /// ATTEMPT is there only if a row has one: refusals have none.
    static func columns(for rows: [DeadLetterRow]) -> [Column<DeadLetterRow>] {
        [
            Column("ID") { $0.id ?? "unreadable, \($0.bytes ?? 0) bytes" },
            Column("AGE") { $0.age },
            rows.contains { $0.attempt != nil } ? Column("ATTEMPT", .leftOut(1)) { $0.attempt.map { "\($0)" } } : nil,
            Column("PLATFORMS", .leftOut(4)) { $0.id == nil ? nil : $0.platforms?.joined(separator: ",") ?? "all" },
            Column("STATUS", .leftOut(2)) { $0.status },
            Column("RECIPIENT", .cut(3, to: 9)) { $0.recipient },
            Column("REASON", .cut(5, to: 20)) { FailureReason.normal($0.reason) },
        ].compactMap(\.self)
    }
}
