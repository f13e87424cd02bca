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

/// The dispatch queue's publisher, connected for as long as a command takes.
enum DispatchPublishing {
    static func with<Value: Sendable>(
        _ configuration: MessagingConfiguration,
        _ body: @escaping @Sendable (RabbitMQDispatchPublisher) async throws -> Value
    ) async throws -> Value {
        let publisher = try RabbitMQDispatchPublisher(configuration: configuration, logger: StoreSession.logger)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                await publisher.run()
                return nil
            }
            group.addTask {
                try await waitUntilConnected(publisher)
                return try await body(publisher)
            }
            defer { group.cancelAll() }
            while let value = try await group.next() { if let value { return value } }
            throw CommandFailure(.unreachable, "The connection to the broker was closed.")
        }
    }

    private static func waitUntilConnected(_ publisher: RabbitMQDispatchPublisher) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !publisher.isConnected {
            guard ContinuousClock.now < end else {
                throw CommandFailure(
                    .unreachable, "The broker cannot be published to.", hint: "`securepush doctor` tells why.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
