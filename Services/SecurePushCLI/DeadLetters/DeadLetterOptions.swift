import ArgumentParser
import Foundation
import Messaging
import SecurePushCore
import ServiceConfiguration

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
