import ArgumentParser
import Foundation
import ServiceConfiguration

struct BrokerUsersCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker-users",
        abstract: "Print the least permissions of each service in RabbitMQ.",
        discussion: """
            Prints commands of rabbitmqctl: a user each for ingest, dispatcher and the command line; retrieval has none.
            None may make exchanges or queues, so services run with AMQP_DECLARE=check, and the broker has them from
            --definitions: a document for `rabbitmqctl import_definitions` or load_definitions, with the delay queues of
            RETRY_DELAYS, and with --passwords the users too, with the passwords of that folder.

            EXAMPLES
              securepush setup broker-users | sh
              securepush setup broker-users --definitions > definitions.json
              securepush setup broker-users --definitions --passwords /services/admin > definitions.json
            """)

    @Flag(help: "Print exchanges, queues and bindings as a document that RabbitMQ loads.")
    var definitions = false

    @Option(help: ArgumentHelp("The folder with the passwords: `admin` of the services' folders.", valueName: "dir"))
    var passwords: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        guard definitions else {
            for user in BrokerUser.allCases { for line in commands(user) { console.line(line) } }
            return
        }
        let delays = try RetryDelays.read()
        console.line(
            try BrokerDefinitions(retryDelays: delays).json { user in
                try passwords.map { try ServiceFolders.password("broker.\(user.rawValue)", in: $0) }
            })
    }

    /// `add_user` without a password asks for it.
    private func commands(_ user: BrokerUser) -> [String] {
        [
            "rabbitmqctl add_user \(user.name)",
            "rabbitmqctl set_permissions \(user.name) '\(BrokerUser.configure)' '\(user.write)' '\(user.read)'",
        ]
    }
}

/// `RETRY_DELAYS` as the services read it.
enum RetryDelays {
    static func read(_ settings: Settings = Settings()) throws -> [Duration] {
        var reader = ConfigurationReader(environment: settings.all)
        guard let delays = reader.read(ConfigurationKeys.retryDelays) else {
            throw CommandFailure(.configuration, reader.issues.map { "\($0)" }.joined(separator: "; "))
        }
        return delays
    }
}
