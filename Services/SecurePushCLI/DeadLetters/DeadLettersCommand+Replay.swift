import ArgumentParser
import Messaging
import SecurePushCore

extension DeadLettersCommand {
    struct Replay: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send what was given up after all: to the platforms still owed, attempts from 1.",
            discussion: """
                The letter is removed once the broker has confirmed the message. What is unknown, expired, revoked or
                owed to nobody is reported and left, or with --drop removed; what cannot be read can only be purged.
                Exit codes: 0 all was replayed or dropped, 1 something was not, 69 broker or database unreachable.

                EXAMPLES
                  securepush dead-letters replay 01890a5d-ac96-774b-bcce-b302099a8057
                  securepush dead-letters replay --all --reason "503"
                  securepush dead-letters replay --all --drop --json
                """)

        @Argument(help: "The notifications' IDs.")
        var ids: [IDArgument] = []

        @Flag(help: "All, or with --reason and --platform all of these.")
        var all = false

        @Flag(help: "Remove the letters of what can never be sent: unknown, expired, revoked, or owed to nobody.")
        var drop = false

        @OptionGroup var selection: DeadLetterSelection
        @OptionGroup var places: DeadLetterPlaces
        @OptionGroup(title: "Output") var output: OutputOptions

        func validate() throws {
            if ids.isEmpty != all { throw ValidationError("Give the IDs, or --all.") }
            if !ids.isEmpty && !selection.isEverything {
                throw ValidationError("--reason, --platform and --unreadable go with --all.")
            }
            if selection.unreadable {
                throw ValidationError("What cannot be read cannot be replayed: dead-letters purge --unreadable.")
            }
        }

        func run(on console: Console) async throws {
            let messaging = try places.messaging()
            let ids = all ? nil : Set(ids.map(\.id))
            let line = ProgressLine(console)
            let result = try await StoreSession.with(places.database()) { store in
                let queue = try await RabbitMQDeadLetterQueue.open(messaging)
                do {
                    let report = try await DispatchPublishing.with(messaging) { publisher in
                        let replay = DeadLetterReplay(
                            queue: queue, ledger: store, publisher: publisher, drops: drop,
                            progress: line.count("letters looked at")
                        ) { item in
                            line.clear()
                            try console.show(item, item.text)
                        }
                        return try await replay.run(ids: ids) { selection.includes($0) }
                    }
                    await queue.close()
                    return report
                } catch {
                    await queue.close()
                    throw error
                }
            }
            line.clear()
            if console.isJSON { try console.show(result, "") } else { console.message(result.summary) }
            if let failure = result.failure {
                throw CommandFailure(
                    .unreachable, "The broker did not confirm a message: \(failure)",
                    hint: "Nothing is lost: run it again once the broker takes messages.")
            }
            if result.Left > 0 || result.NotFound > 0 { throw ExitCode(CommandFailure.Code.failed.rawValue) }
        }
    }
}
