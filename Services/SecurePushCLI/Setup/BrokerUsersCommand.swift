import AMQP
import ArgumentParser
import Crypto
import Foundation
import Messaging
import ServiceConfiguration

struct BrokerUsersCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker-users",
        abstract: "Print the minimal RabbitMQ permissions of each service.",
        discussion: """
            Prints rabbitmqctl commands that create a user for each of ingest, dispatcher, operator and the command \
            line. Retrieval needs none. These users cannot create exchanges or queues, so run the services with \
            AMQP_DECLARE=check and let the broker load them: --definitions prints a document for `rabbitmqctl \
            import_definitions` or load_definitions, with the delay queues of RETRY_DELAYS. With --passwords the \
            document also has the users, with the passwords of that folder.

            EXAMPLES
              securepush setup broker-users | sh
              securepush setup broker-users --definitions > definitions.json
              securepush setup broker-users --definitions --passwords /services/admin \\
                  > definitions.json
            """)

    @Flag(help: "Print exchanges, queues and bindings as a definitions document for RabbitMQ.")
    var definitions = false

    @Option(
        help: ArgumentHelp("The folder with the passwords: `admin` in the services' folder.", valueName: "dir"),
        completion: .directory, transform: filePath)
    var passwords: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        guard definitions else {
            for user in BrokerUser.allCases { for line in commands(user) { try console.line(line) } }
            return
        }
        try console.line(
            try BrokerDefinitions(retryDelays: Settings().retryDelays()).json { user in
                try passwords.map { try ServiceFolders.password("broker.\(user.rawValue)", in: $0) }
            })
    }

    /// `add_user` without a password prompts for it.
    private func commands(_ user: BrokerUser) -> [String] {
        [
            "rabbitmqctl add_user \(user.name)",
            "rabbitmqctl set_permissions \(user.name) '\(BrokerUser.configure)' '\(user.write)' '\(user.read)'",
        ]
    }
}

/// A RabbitMQ user with the minimal permissions of one service. No user can configure anything: the broker creates
/// exchanges and queues, and the services run with `AMQP_DECLARE=check`. Retrieval has no user.
enum BrokerUser: String, CaseIterable, Sendable {
    case ingest, dispatcher
    /// The operator's page: counts messages and takes dead letters. It publishes nothing; ingest does that for it.
    case `operator`
    /// The command line: `dead-letters` and `doctor`.
    case cli

    var name: String { "securepush_\(rawValue)" }

    /// Permissions are regular expressions for the names of exchanges and queues (RabbitMQ, "Access Control").
    static let configure = "^$"

    /// Ingest and the command line's replay publish to the exchange of new notifications. The dispatcher publishes to the
    /// exchange of dead letters, and to the delay queues by name, which needs the default exchange.
    var write: String {
        switch self {
        case .ingest, .cli: #"^securepush\.notifications$"#
        case .operator: "^$"
        case .dispatcher: #"^(amq\.default|securepush\.dead)$"#
        }
    }

    /// Every user needs to read the queues, because it checks that they have leaders (`basic.consume` without credit).
    /// No user reads exchanges, because none binds queues.
    var read: String { #"^securepush\.(dispatch|dead|retry\.[0-9.]+)$"# }

    /// RabbitMQ's hash of a password: four bytes of salt, and SHA-256 of salt and password. The salt is derived from
    /// the password, which is random, so that the same password always gives the same hash.
    static func hash(_ password: String) -> String {
        let salt = Data(SHA256.hash(data: Data("salt \(password)".utf8)).prefix(4))
        return (salt + Data(SHA256.hash(data: salt + Data(password.utf8)))).base64EncodedString()
    }
}

/// The definitions that RabbitMQ loads when it starts (`load_definitions`): users, permissions, exchanges, queues and
/// bindings. A broker that has lost its data has them again before clients connect.
struct BrokerDefinitions: Sendable {
    /// A value of the document.
    private enum Term: Encodable {
        case text(String), number(Int64), flag(Bool), list([Term]), object([String: Term])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            case .list(let list): try container.encode(list)
            case .object(let members): try container.encode(members)
            }
        }
    }

    var retryDelays: [Duration]

    func json(password: (BrokerUser) throws -> String?) throws -> String {
        let topology = DispatchTopology(retryDelays: retryDelays).declarations
        let users = try BrokerUser.allCases.compactMap { user in try password(user).map { (user, $0) } }
        let document: [String: [[String: Term]]] = [
            "users": users.map { user, password in
                [
                    "name": .text(user.name), "password_hash": .text(BrokerUser.hash(password)),
                    "hashing_algorithm": .text("rabbit_password_hashing_sha256"), "tags": .text(""),
                ]
            },
            "vhosts": [["name": Self.host]],
            "permissions": users.map { user, _ in
                [
                    "user": .text(user.name), "vhost": Self.host, "configure": .text(BrokerUser.configure),
                    "write": .text(user.write), "read": .text(user.read),
                ]
            },
            "exchanges": topology.exchanges.map { exchange in
                Self.durable(exchange.name).merging([
                    "type": .text(exchange.kind.rawValue), "internal": .flag(false), "arguments": .object([:]),
                ]) { $1 }
            },
            "queues": topology.queues.map { queue in
                Self.durable(queue.name).merging(["arguments": .object(Self.arguments(queue.arguments))]) { $1 }
            },
            "bindings": topology.bindings.map { binding in
                [
                    "source": .text(binding.exchange), "vhost": Self.host, "destination": .text(binding.queue),
                    "destination_type": .text("queue"), "routing_key": .text(binding.key), "arguments": .object([:]),
                ]
            },
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(document), as: UTF8.self)
    }

    private static let host = Term.text("/")

    private static func durable(_ name: String) -> [String: Term] {
        ["name": .text(name), "vhost": host, "durable": .flag(true), "auto_delete": .flag(false)]
    }

    /// The arguments in the topology are texts and whole numbers.
    private static func arguments(_ table: AMQPTable) -> [String: Term] {
        var arguments: [String: Term] = [:]
        for entry in table.entries {
            if let text = entry.value.string { arguments[entry.key] = .text(text) }
            if let number = entry.value.integer { arguments[entry.key] = .number(number) }
        }
        return arguments
    }
}
