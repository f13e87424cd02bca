import ArgumentParser
import Messaging
import SecurePushCore

extension DeadLettersCommand {
    struct Purge: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove dead letters for good; the notifications stay as they are on record.",
            discussion: """
                Without a filter all that are there. Their notifications can still be read until they expire; they are
                only not pushed any more. Without --yes nothing is done (exit code 64).

                EXAMPLES
                  securepush dead-letters purge --yes
                  securepush dead-letters purge --yes --unreadable
                  securepush dead-letters purge --yes --reason "503"
                """)

        @Flag(help: "Yes, remove them.")
        var yes = false

        @OptionGroup var selection: DeadLetterSelection
        @OptionGroup(title: "Output") var output: OutputOptions

        private struct Answer: Encodable { var Purged: Int }

        func validate() throws {
            if !yes { throw ValidationError("Purging cannot be undone: add --yes.") }
        }

        func run(on console: Console) async throws {
            let queue = try await RabbitMQDeadLetterQueue.open(try DeadLetterPlaces.broker())
            let purged: Int
            do {
                let line = ProgressLine(console)
                defer { line.clear() }
                purged = try await Self.purge(queue, selection, progress: line.count("letters looked at"))
            } catch {
                await queue.close()
                throw error
            }
            await queue.close()
            try console.show(Answer(Purged: purged), "purged \(purged.grouped) dead letters")
        }

        static func purge(
            _ queue: any DeadLetterQueue, _ selection: DeadLetterSelection,
            progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
        ) async throws -> Int {
            if selection.isEverything { return try await queue.purge() }
            var purged = 0
            try await DeadLetterScan(queue: queue, progress: progress).run { letter in
                guard selection.includes(letter) else { return true }
                try await queue.remove(letter)
                purged += 1
                return true
            }
            return purged
        }
    }
}
