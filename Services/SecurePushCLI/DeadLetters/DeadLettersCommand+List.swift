import ArgumentParser
import SecurePushCore

extension DeadLettersCommand {
    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the dead letters, oldest first. Changes nothing.",
            discussion: """
                With DATABASE_URL it also shows recipient and status. AGE is the time since the notification was
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
            if console.isJSON {
                for row in rows { try console.show(row, "") }
            } else {
                for line in DeadLetterRow.table(rows, width: table.width) { try console.line(line) }
                if rows.isEmpty, found.total > 0 {
                    console.nothing(
                        "No dead letters match. To see more, leave out --reason, --platform or --unreadable.")
                }
                console.message("\(rows.count.grouped) shown, \(found.total.grouped) dead letters in total")
            }
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

        @Argument(help: "The ID of the notification.")
        var id: IDArgument

        @OptionGroup var table: TableOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        private struct Report: Encodable {
            var letters: [DeadLetterRow]
            var expiresAt: String?
            var readAt: String?
            var deliveries: [DeliveryRow]?

            private enum CodingKeys: String, CodingKey {
                case letters = "Letters", expiresAt = "ExpiresAt", readAt = "ReadAt", deliveries = "Deliveries"
            }
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
            let deliveries = record?.deliveries.map { DeliveryRow($0) }
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
            _ rows: [DeadLetterRow], _ expiresAt: Timestamp?, _ deliveries: [DeliveryRow], width: Int?
        ) -> [String] {
            var facts = TextTable(isOfWords: true)
            facts.add(["ID", rows.first?.id ?? "-"])
            facts.add(["Recipient", rows.first?.recipient?.oneLine ?? "-"])
            facts.add(["Status", rows.first?.status ?? "-"])
            facts.add(["Created", rows.first?.createdAt ?? "-"])
            if let expiresAt { facts.add(["Expires", expiresAt.description]) }
            for row in rows {
                let platforms = row.platforms?.joined(separator: ",").oneLine ?? "all platforms"
                facts.add(["Dead-lettered", "\(platforms): \(row.reason.oneLine)"])
            }
            return facts.lines + (deliveries.isEmpty ? [] : [""] + DeliveryRow.table(deliveries, width: width))
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

    private enum CodingKeys: String, CodingKey {
        case id = "Id", reason = "Reason", platforms = "Platforms", attempt = "Attempt", createdAt = "CreatedAt"
        case deadAt = "DeadAt", recipient = "Recipient", status = "Status", bytes = "Bytes"
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

    /// - Parameter width: of the terminal; `nil` if lines may have any length.
    static func table(_ rows: [DeadLetterRow], width: Int? = nil) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["ID", "AGE", "ATTEMPT", "PLATFORMS", "STATUS", "RECIPIENT", "REASON"])
        for row in rows {
            table.add([
                row.id ?? "unreadable, \(row.bytes ?? 0) bytes", row.age, row.attempt.map { "\($0)" } ?? "-",
                row.id == nil ? "-" : row.platforms?.joined(separator: ",").oneLine ?? "all", row.status ?? "-",
                row.recipient?.oneLine ?? "-", row.reason.oneLine,
            ])
        }
        table.fit(
            width,
            [
                .leaveOut(column: 2), .leaveOut(column: 4), .cut(column: 5, to: 9), .leaveOut(column: 3),
                .cut(column: 6, to: 20),
            ])
        return table.lines
    }
}
