import ArgumentParser
import Foundation
import Messaging
import SecurePushCore
import ServiceConfiguration

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Look at what was given up, send it after all, or drop it.",
        discussion: """
            Works on the dead-letter queue (AMQP_URL) and the database (DATABASE_URL) of the services. What is looked at
            stays where it is; for as long as a look takes, another one finds the queue empty. Exit codes:
            0 done, 1 something could not be done, 64 usage, 69 broker or database unreachable, 78 configuration.

            EXAMPLES
              securepush dead-letters list --reason throttled
              securepush dead-letters show 01890a5d-ac96-774b-bcce-b302099a8057
              securepush dead-letters replay --all
              securepush dead-letters purge --yes
            """,
        subcommands: [List.self, Show.self, Replay.self, Purge.self])
}

/// Which dead letters are meant.
struct DeadLetterSelection: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Only those whose reason contains this, in any case.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("Only those owed to this platform; repeat it for more.", valueName: "name"))
    var platform: [String] = []

    @Flag(help: "Only those that cannot be read: their body is no notification's ID.")
    var unreadable = false

    var isEverything: Bool { reason == nil && platform.isEmpty && !unreadable }

    /// A letter that names no platforms is owed to all.
    func includes(_ letter: DeadLetter) -> Bool {
        if unreadable && letter.message != nil { return false }
        if let reason, !letter.reason.lowercased().contains(reason.lowercased()) { return false }
        if platform.isEmpty { return true }
        guard let message = letter.message else { return false }
        return message.platforms?.contains { platform.contains($0.rawValue) } ?? true
    }
}

/// Where the dead letters and their notifications are.
struct DeadLetterPlaces: ParsableArguments {
    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp("sqlite:PATH, or a libpq URI without a password (DATABASE_URL).", valueName: "url"))
    var databaseURL: String?

    /// The database that was named; `nil` where none was.
    func databaseIfNamed(_ settings: Settings = Settings()) -> String? { databaseURL ?? settings["DATABASE_URL"] }

    /// The database that was named, or else the services' default.
    func database(_ settings: Settings = Settings()) -> String { databaseURL ?? Migrations.url(settings.all) }

    /// The broker's settings; a URL holds a password, so that it comes from the environment only.
    func messaging(_ settings: Settings = Settings()) throws -> MessagingConfiguration {
        try Self.broker(settings)
    }

    /// The same for a command that needs no database.
    static func broker(_ settings: Settings = Settings()) throws -> MessagingConfiguration {
        var reader = ConfigurationReader(environment: settings.all)
        let configuration = MessagingConfiguration.read(
            &reader, prefetch: 1, connectionName: "securepush dead-letters")
        guard let configuration else {
            throw CommandFailure(
                .configuration, "The broker's settings cannot be used.", details: reader.issues.map(\.description))
        }
        return configuration
    }
}

/// Goes once through the letters that are there at the start; those that come meanwhile are another time's.
struct DeadLetterScan: Sendable {
    let queue: any DeadLetterQueue
    /// Told of each letter looked at: how many so far, and of how many.
    var progress: @Sendable (_ looked: Int, _ total: Int) -> Void = { _, _ in }

    /// - Parameter body: takes a letter; `false` ends the scan.
    /// - Returns: how many letters there were.
    @discardableResult
    func run(_ body: (DeadLetter) async throws -> Bool) async throws -> Int {
        let total = try await queue.count()
        var looked = 0
        while looked < total, let letter = try await queue.next() {
            try Task.checkCancellation()
            looked += 1
            progress(looked, total)
            guard try await body(letter) else { break }
        }
        return total
    }

    /// The first `limit` letters of those that are meant.
    func letters(_ limit: Int, where isMeant: (DeadLetter) -> Bool) async throws -> (letters: [DeadLetter], total: Int)
    {
        var letters: [DeadLetter] = []
        if limit < 1 { return ([], try await queue.count()) }
        let total = try await run { letter in
            if isMeant(letter) { letters.append(letter) }
            return letters.count < limit
        }
        return (letters, total)
    }
}
