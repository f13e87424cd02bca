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
            Prints rabbitmqctl commands that create a user for each of ingest, dispatcher and the command line. \
            Retrieval needs none. These users cannot create exchanges or queues, so run the services with \
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
        transform: filePath)
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
    /// The command line: `dead-letters` and `doctor`.
    case `operator`

    var name: String { "securepush_\(rawValue)" }

    /// Permissions are regular expressions for the names of exchanges and queues (RabbitMQ, "Access Control").
    static let configure = "^$"

    /// Ingest and an operator's replay publish to the exchange of new notifications. The dispatcher publishes to the
    /// exchange of dead letters, and to the delay queues by name, which needs the default exchange.
    var write: String {
        switch self {
        case .ingest, .operator: #"^securepush\.notifications$"#
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
    private struct Document: Encodable {
        struct User: Encodable {
            var name: String
            var passwordHash: String
            var hashingAlgorithm = "rabbit_password_hashing_sha256"
            var tags = ""
        }
        struct VirtualHost: Encodable { var name = "/" }
        struct Permission: Encodable {
            var user: String
            var vhost = "/"
            var configure: String
            var write: String
            var read: String
        }
        struct Exchange: Encodable {
            var name: String
            var vhost = "/"
            var type: String
            var durable = true
            var autoDelete = false
            var `internal` = false
            var arguments: [String: Argument] = [:]
        }
        struct Queue: Encodable {
            var name: String
            var vhost = "/"
            var durable = true
            var autoDelete = false
            var arguments: [String: Argument]
        }
        struct Binding: Encodable {
            var source: String
            var vhost = "/"
            var destination: String
            var destinationType = "queue"
            var routingKey: String
            var arguments: [String: Argument] = [:]
        }

        var users: [User]
        var vhosts = [VirtualHost()]
        var permissions: [Permission]
        var exchanges: [Exchange]
        var queues: [Queue]
        var bindings: [Binding]
    }

    private enum Argument: Encodable {
        case text(String)
        case number(Int64)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }

    var retryDelays: [Duration]

    func json(password: (BrokerUser) throws -> String?) throws -> String {
        let topology = DispatchTopology(retryDelays: retryDelays).declarations
        let users = try BrokerUser.allCases.compactMap { user in
            try password(user).map { Document.User(name: user.name, passwordHash: BrokerUser.hash($0)) }
        }
        let document = Document(
            users: users,
            permissions: BrokerUser.allCases.filter { user in users.contains { $0.name == user.name } }.map {
                Document.Permission(
                    user: $0.name, configure: BrokerUser.configure, write: $0.write, read: $0.read)
            },
            exchanges: topology.exchanges.map { Document.Exchange(name: $0.name, type: $0.kind.rawValue) },
            queues: topology.queues.map { Document.Queue(name: $0.name, arguments: Self.arguments($0.arguments)) },
            bindings: topology.bindings.map {
                Document.Binding(source: $0.exchange, destination: $0.queue, routingKey: $0.key)
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(document), as: UTF8.self)
    }

    /// The arguments in the topology are texts and whole numbers.
    private static func arguments(_ table: AMQPTable) -> [String: Argument] {
        var arguments: [String: Argument] = [:]
        for entry in table.entries {
            if let text = entry.value.string { arguments[entry.key] = .text(text) }
            if let number = entry.value.integer { arguments[entry.key] = .number(number) }
        }
        return arguments
    }
}
