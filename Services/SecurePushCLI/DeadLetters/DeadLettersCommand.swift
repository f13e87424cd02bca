import ArgumentParser
import Domain
import Messaging

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Inspect, replay or purge the dead-letter queue.",
        discussion: """
            Works on the dead-letter queue (AMQP_URL) and the database (DATABASE_URL) of the services. Reading the \
            queue removes nothing, but while a command reads it, other consumers see it as empty. Exit codes: 0 done, \
            1 something failed, 64 usage, 69 broker or database unreachable, 78 configuration.

            EXAMPLES
              securepush dead-letters list --reason throttled
              securepush dead-letters show 01890a5d-ac96-774b-bcce-b302099a8057
              securepush dead-letters replay --all
              securepush dead-letters purge --yes
            """,
        subcommands: [List.self, Show.self, Replay.self, Purge.self])
}

struct DeadLetterSelection: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("Only dead letters whose reason contains this text (ignores case).", valueName: "text"))
    var reason: String?

    @Option(
        help: ArgumentHelp("Only dead letters for this platform. Repeat it for more.", valueName: "name"),
        completion: .platforms)
    var platform: [String] = []

    @Flag(help: "Only unreadable dead letters: their body is not a notification ID.")
    var unreadable = false

    var isEverything: Bool { reason == nil && platform.isEmpty && !unreadable }

    /// A dead letter without platforms is for all of them.
    func includes(_ letter: DeadLetter) -> Bool {
        if unreadable && letter.message != nil { return false }
        if let reason, !letter.reason.lowercased().contains(reason.lowercased()) { return false }
        if platform.isEmpty { return true }
        guard let message = letter.message else { return false }
        return message.platforms?.contains { platform.contains($0.rawValue) } ?? true
    }
}

extension DeadLetterScan {
    /// Opens the queue for the duration of `body`. The broker requeues everything that `body` has not removed.
    static func with<Value>(_ console: Console, _ body: (DeadLetterScan) async throws -> Value) async throws -> Value {
        let queue = try await RabbitMQDeadLetterQueue.open(try Settings().messaging())
        let line = ProgressLine(console)
        let result: Value
        do {
            result = try await body(DeadLetterScan(queue: queue, progress: line.count("dead letters read")))
        } catch {
            line.clear()
            await queue.close()
            throw error
        }
        line.clear()
        await queue.close()
        return result
    }
}
