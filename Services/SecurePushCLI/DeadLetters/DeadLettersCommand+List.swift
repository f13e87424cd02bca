import ArgumentParser
import Messaging
import SecurePushCore

extension DeadLettersCommand {
    struct List: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List what was given up, the oldest first; changes nothing.",
            discussion: """
                With DATABASE_URL the recipient, the status and the age of each too. AGE is the time since it was given
                up, or without a database since it was accepted.

                EXAMPLES
                  securepush dead-letters list
                  securepush dead-letters list --platform apple --reason "503" --limit 20
                  securepush dead-letters list --json | jq -r .Id
                """)

        @OptionGroup var selection: DeadLetterSelection

        @Option(help: ArgumentHelp("The most that are shown, 1 to 10,000.", valueName: "n"))
        var limit = 100

        @OptionGroup var places: DeadLetterPlaces
        @OptionGroup(title: "Output") var output: OutputOptions

        func validate() throws {
            if !(1...10_000).contains(limit) { throw ValidationError("--limit is 1 to 10000.") }
        }

        func run(on console: Console) async throws {
            let queue = try await RabbitMQDeadLetterQueue.open(try places.messaging())
            let found: (letters: [DeadLetter], total: Int)
            do {
                let line = ProgressLine(console)
                defer { line.clear() }
                found = try await DeadLetterScan(queue: queue, progress: line.count("letters looked at"))
                    .letters(limit) { selection.includes($0) }
            } catch {
                await queue.close()
                throw error
            }
            await queue.close()
            let ids = Set(found.letters.compactMap { $0.message?.id })
            let records = try await Self.records(Array(ids), database: places.databaseIfNamed())
            let rows = found.letters.map { DeadLetterRow($0, records: records, now: .now) }
            if console.isJSON {
                for row in rows { try console.show(row, "") }
            } else {
                for line in DeadLetterRow.table(rows) { console.line(line) }
                console.message("\(rows.count.grouped) shown, \(found.total.grouped) dead letters in all")
            }
        }

        static func records(
            _ ids: [NotificationID], database: String?
        ) async throws -> [NotificationID: NotificationRecord]? {
            guard let database else { return nil }
            return try await StoreSession.with(database) { store in try await store.records(ids) }
        }
    }
}

extension ProgressLine {
    /// A count of many, told a hundred at a time.
    func count(_ what: String) -> @Sendable (Int, Int) -> Void {
        { done, total in
            if done.isMultiple(of: 100) || done == total { show("\(done.grouped) of \(total.grouped) \(what)") }
        }
    }
}

extension DeadLettersCommand {
    struct Show: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a notification that was given up, with the store's record of its platforms.",
            discussion: """
                Exit codes: 0 shown, 1 there is no dead letter of it.

                EXAMPLES
                  securepush dead-letters show 01890a5d-ac96-774b-bcce-b302099a8057
                  securepush dead-letters show 01890a5d-ac96-774b-bcce-b302099a8057 --json
                """)

        @Argument(help: "The notification's ID.")
        var id: IDArgument

        @OptionGroup var places: DeadLetterPlaces
        @OptionGroup(title: "Output") var output: OutputOptions

        struct Answer: Encodable {
            var Letters: [DeadLetterRow]
            var ExpiresAt: String?
            var ReadAt: String?
            var Deliveries: [DeliveryRow]?
        }

        func run(on console: Console) async throws {
            let id = id.id
            let queue = try await RabbitMQDeadLetterQueue.open(try places.messaging())
            let letters: [DeadLetter]
            do {
                let line = ProgressLine(console)
                defer { line.clear() }
                letters = try await DeadLetterScan(queue: queue, progress: line.count("letters looked at"))
                    .letters(.max) { $0.message?.id == id }.letters
            } catch {
                await queue.close()
                throw error
            }
            await queue.close()
            guard !letters.isEmpty else {
                throw CommandFailure(
                    .failed, "There is no dead letter of \(id).",
                    hint: "`securepush status \(id)` tells its sender where it stands.")
            }
            let records = try await List.records([id], database: places.databaseIfNamed())
            let record = records?[id]
            let rows = letters.map { DeadLetterRow($0, records: records, now: .now) }
            let deliveries = record?.deliveries.map { DeliveryRow($0) }
            if console.isJSON {
                let answer = Answer(
                    Letters: rows, ExpiresAt: record?.expiresAt.description, ReadAt: record?.readAt?.description,
                    Deliveries: deliveries)
                return try console.show(answer, "")
            }
            for line in Self.lines(rows, record) { console.line(line) }
        }

        static func lines(_ rows: [DeadLetterRow], _ record: NotificationRecord?) -> [String] {
            var facts = TextTable(isOfWords: true)
            facts.add(["ID", rows.first?.Id ?? "-"])
            facts.add(["Recipient", rows.first?.Recipient?.oneLine ?? "-"])
            facts.add(["Status", rows.first?.Status ?? "-"])
            facts.add(["Created", rows.first?.CreatedAt ?? "-"])
            if let record { facts.add(["Expires", record.expiresAt.description]) }
            for row in rows {
                let platforms = row.Platforms?.joined(separator: ",").oneLine ?? "all platforms"
                facts.add(["Given up", "\(platforms): \(row.Reason.oneLine)"])
            }
            let deliveries = DeliveryRow.table(record?.deliveries.map { DeliveryRow($0) } ?? [])
            return facts.lines + (deliveries.isEmpty ? [] : [""] + deliveries)
        }
    }
}

/// A dead letter as it is listed; never anything of a payload, nor the body of one that cannot be read.
struct DeadLetterRow: Encodable, Sendable, Equatable {
    /// `nil` for one that cannot be read.
    var Id: String?
    var Reason: String
    /// `nil` where the letter names none: all that are owed.
    var Platforms: [String]?
    var Attempt: Int?
    /// When the notification was accepted.
    var CreatedAt: String?
    /// When the last of its platforms was given up, as the store has it.
    var DeadAt: String?
    var Recipient: String?
    /// `unknown` where the store has no such notification; `nil` without a store.
    var Status: String?
    /// The length of a body that cannot be read.
    var Bytes: Int?
    private var age: String

    private enum CodingKeys: String, CodingKey {
        case Id, Reason, Platforms, Attempt, CreatedAt, DeadAt, Recipient, Status, Bytes
    }

    /// - Parameter records: what the store knows; `nil` without a store.
    init(_ letter: DeadLetter, records: [NotificationID: NotificationRecord]?, now: Timestamp) {
        Reason = letter.reason
        guard let message = letter.message else {
            Bytes = letter.byteCount
            age = "-"
            return
        }
        Id = message.id.description
        Platforms = message.platforms?.map(\.rawValue)
        Attempt = message.attempt
        CreatedAt = message.id.timestamp.description
        var since = message.id.timestamp
        if let records {
            let record = records[message.id]
            Status = record?.status(at: now).rawValue ?? "unknown"
            Recipient = record?.recipient.text
            if let deadAt = record?.deliveries.filter({ $0.state == .dead }).map(\.updatedAt).max() {
                DeadAt = deadAt.description
                since = deadAt
            }
        }
        age = max(.zero, now - since).spoken
    }

    static func table(_ rows: [DeadLetterRow]) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["ID", "AGE", "ATTEMPT", "PLATFORMS", "STATUS", "RECIPIENT", "REASON"])
        for row in rows {
            table.add([
                row.Id ?? "unreadable, \(row.Bytes ?? 0) bytes", row.age, row.Attempt.map { "\($0)" } ?? "-",
                row.Id == nil ? "-" : row.Platforms?.joined(separator: ",").oneLine ?? "all", row.Status ?? "-",
                row.Recipient?.oneLine ?? "-", row.Reason.oneLine,
            ])
        }
        return table.lines
    }
}
