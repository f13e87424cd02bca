import ArgumentParser
import Messaging
import SecurePushCore

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
