import AMQP
import ArgumentParser
import Crypto
import Foundation
import Messaging
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

/// A user of RabbitMQ with the least permissions that one service works with. None may configure anything: exchanges
/// and queues are there before, and the services run with `AMQP_DECLARE=check`. Retrieval has no user.
enum BrokerUser: String, CaseIterable, Sendable {
    case ingest, dispatcher
    /// The command line: dead letters, `doctor`.
    case `operator`

    var name: String { "securepush_\(rawValue)" }

    /// Permissions are regular expressions over the names of exchanges and queues (RabbitMQ, "Access Control").
    static let configure = "^$"

    /// Ingest publishes to the exchange of new notifications, which nobody else but an operator's replay may write to.
    /// The dispatcher writes to the delay queues by name, which is the right to the default exchange, and to the
    /// exchange of dead letters.
    var write: String {
        switch self {
        case .ingest, .operator: #"^securepush\.notifications$"#
        case .dispatcher: #"^(amq\.default|securepush\.dead)$"#
        }
    }

    /// All look for leaders of the queues (`basic.consume` without credit), which is the right to read them; only the
    /// dispatcher consumes, and only an operator takes dead letters. No exchange may be read: nobody binds.
    var read: String { #"^securepush\.(dispatch|dead|retry\.[0-9.]+)$"# }

    /// What RabbitMQ keeps of a password: four bytes of salt and SHA-256 over salt and password. The salt is made from
    /// the password, which is random, so that the same password gives the same text.
    static func hash(_ password: String) -> String {
        let salt = Data(SHA256.hash(data: Data("salt \(password)".utf8)).prefix(4))
        return (salt + Data(SHA256.hash(data: salt + Data(password.utf8)))).base64EncodedString()
    }
}

/// What RabbitMQ loads at its start (`load_definitions`): users, permissions, exchanges, queues and bindings, so that a
/// broker that has lost its data is whole again before anyone connects.
struct BrokerDefinitions: Sendable {
    private struct Document: Encodable {
        struct User: Encodable {
            var name: String
            var password_hash: String
            var hashing_algorithm = "rabbit_password_hashing_sha256"
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
            var auto_delete = false
            var `internal` = false
            var arguments: [String: Argument] = [:]
        }
        struct Queue: Encodable {
            var name: String
            var vhost = "/"
            var durable = true
            var auto_delete = false
            var arguments: [String: Argument]
        }
        struct Binding: Encodable {
            var source: String
            var vhost = "/"
            var destination: String
            var destination_type = "queue"
            var routing_key: String
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

    /// The document, with the users for whom there is a password.
    func json(password: (BrokerUser) throws -> String?) throws -> String {
        let topology = DispatchTopology(retryDelays: retryDelays).declarations
        let users = try BrokerUser.allCases.compactMap { user in
            try password(user).map { Document.User(name: user.name, password_hash: BrokerUser.hash($0)) }
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
                Document.Binding(source: $0.exchange, destination: $0.queue, routing_key: $0.key)
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(document), as: UTF8.self)
    }

    /// The topology uses texts and whole numbers only.
    private static func arguments(_ table: AMQPTable) -> [String: Argument] {
        var arguments: [String: Argument] = [:]
        for entry in table.entries {
            if let text = entry.value.string { arguments[entry.key] = .text(text) }
            if let number = entry.value.integer { arguments[entry.key] = .number(number) }
        }
        return arguments
    }
}
