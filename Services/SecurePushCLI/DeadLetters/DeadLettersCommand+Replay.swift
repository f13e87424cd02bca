import ArgumentParser
import Domain
import Messaging
import ServiceRuntime

extension DeadLettersCommand {
    struct Replay: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Dispatch dead letters again to the platforms that are not final, with attempts from 1.",
            discussion: """
                Removes a dead letter when the broker has confirmed the new message, or if no platform has failed any \
                more, for example after `securepush resend`. Notifications that are unknown, expired or revoked \
                cannot be replayed: the command reports them and leaves them, or removes them with --drop. Unreadable \
                dead letters can only be purged. Exit codes: 0 all replayed or dropped, 1 some not, 69 broker or \
                database unreachable.

                EXAMPLES
                  securepush dead-letters replay 01890a5d-ac96-774b-bcce-b302099a8057
                  securepush dead-letters replay --all --reason "503"
                  securepush dead-letters replay --all --drop --json
                """)

        @Argument(help: "The IDs of the notifications, such as \(IDArgument.example).")
        var ids: [IDArgument] = []

        @Flag(help: "All dead letters, or all that --reason and --platform select.")
        var all = false

        @Flag(help: "Remove dead letters that cannot be replayed, too: of unknown, expired or revoked notifications.")
        var drop = false

        @OptionGroup var selection: DeadLetterSelection
        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("dead-letters.replay", ids.count == 1 ? ids.first.map { "\($0.id)" } : nil) }

        func validate() throws {
            if ids.isEmpty != all { throw ValidationError("Give either IDs or --all.") }
            if !ids.isEmpty && !selection.isEverything {
                throw ValidationError("--reason, --platform and --unreadable need --all.")
            }
            if selection.unreadable {
                throw ValidationError(
                    "Unreadable dead letters cannot be replayed. Use dead-letters purge --unreadable.")
            }
        }

        func run(on console: Console) async throws {
            let messaging = try Settings().messaging()
            let ids = all ? nil : Set(ids.map(\.id))
            let line = ProgressLine(console)
            let result = try await StoreSession.with(database.url) { store in
                try await DeadLetterScan.with(console) { scan in
                    try await withPublisher(messaging) { publisher in
                        let replay = DeadLetterReplay(
                            queue: scan.queue, store: store, publisher: publisher, drops: drop, progress: scan.progress
                        ) { item in
                            line.clear()
                            try console.show(item, item.text)
                        }
                        return try await replay.run(ids: ids) { selection.includes($0) }
                    }
                }
            }
            if console.isJSON { try console.show(result, "") } else { console.message(result.summary) }
            if let failure = result.failure {
                throw CommandFailure(
                    .unreachable, "The broker did not confirm a message: \(failure)",
                    hint: "Nothing is lost. Run the command again when the broker accepts messages.")
            }
            if result.left > 0 || result.notFound > 0 { throw CommandFailure.Code.failed.exitCode }
        }
    }

    struct Purge: AuditedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove dead letters permanently. The records of the notifications stay.",
            discussion: """
                Removes all dead letters, or those that the filters select. Their notifications are not pushed any \
                more, but users can read them until they expire. Does nothing without --yes (exit code 64).

                EXAMPLES
                  securepush dead-letters purge --yes
                  securepush dead-letters purge --yes --unreadable
                  securepush dead-letters purge --yes --reason "503"
                """)

        @Flag(help: "Confirm the removal.")
        var yes = false

        @OptionGroup var selection: DeadLetterSelection
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { ("dead-letters.purge", nil) }

        private struct Report: Encodable {
            var purged: Int
        }

        func validate() throws {
            if !yes { throw ValidationError("Purged dead letters cannot be restored. Confirm with --yes.") }
        }

        func run(on console: Console) async throws {
            let purged = try await DeadLetterScan.with(console) { try await Self.purge($0, selection) }
            try console.show(
                Report(purged: purged),
                purged == 1 ? "purged 1 dead letter" : "purged \(purged.grouped) dead letters")
        }

        static func purge(_ scan: DeadLetterScan, _ selection: DeadLetterSelection) async throws -> Int {
            if selection.isEverything { return try await scan.queue.purge() }
            var purged = 0
            try await scan.run { letter in
                guard selection.includes(letter) else { return true }
                try await scan.queue.remove(letter)
                purged += 1
                return true
            }
            return purged
        }
    }
}

/// Connects a publisher of the dispatch queue for the duration of `body`.
///
/// - Throws: ``CommandFailure`` with code `unreachable` if it does not connect within 10 s.
func withPublisher<Value: Sendable>(
    _ configuration: MessagingConfiguration,
    _ body: @escaping @Sendable (RabbitMQDispatchPublisher) async throws -> Value
) async throws -> Value {
    let publisher = try RabbitMQDispatchPublisher(configuration: configuration, logger: .silent)
    return try await withRunning(publisher) {
        let end = ContinuousClock.now + .seconds(10)
        while !publisher.isConnected {
            guard ContinuousClock.now < end else {
                throw CommandFailure(
                    .unreachable, "The broker does not accept messages.", hint: "`securepush doctor` shows why.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await body(publisher)
    }
}
