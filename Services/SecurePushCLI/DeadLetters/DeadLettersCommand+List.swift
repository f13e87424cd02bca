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
