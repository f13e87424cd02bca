import AMQP
import ArgumentParser
import Authentication
import NotificationHubs
import SecurePushCore
import Storage

/// Why a command did not do what it was asked, with the exit code that scripts see.
struct CommandFailure: Error, Sendable, Equatable {
    /// The exit codes of `securepush` (sysexits.h where it has a name for the case).
    enum Code: Int32, Sendable {
        case failed = 1
        /// EX_USAGE
        case usage = 64
        /// EX_UNAVAILABLE
        case unreachable = 69
        /// EX_CONFIG
        case configuration = 78
    }

    var code: Code
    /// One sentence.
    var message: String
    /// Further lines, one for each thing that is wrong.
    var details: [String] = []
    /// What to do about it.
    var hint: String?

    init(_ code: Code, _ message: String, details: [String] = [], hint: String? = nil) {
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
    }

    /// The exit code as the argument parser knows it.
    var exitCode: ExitCode { ExitCode(code.rawValue) }
}

extension CommandFailure: Encodable {
    private enum CodingKeys: String, CodingKey {
        case code = "Code"
        case message = "Error"
        case details = "Details"
        case hint = "Hint"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        if !details.isEmpty { try container.encode(details, forKey: .details) }
        try container.encodeIfPresent(hint, forKey: .hint)
    }
}

extension CommandFailure {
    /// The failure that an error of any module is reported as.
    init(describing error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as StorageError:
            let code: Code = error.isRetriable ? .unreachable : error.code == .invalid ? .configuration : .failed
            let hint =
                error.code == .migrationNeeded
                ? "Run `securepush migrate`, or the newer program."
                : error.isRetriable ? "Is the database of DATABASE_URL running?" : nil
            self.init(code, "The database: \(error.message)", hint: hint)
        case let error as PushGatewayError:
            self.init(error.code == .unavailable ? .unreachable : .failed, "The hub: \(error.message)")
        case let error as NotificationHubConfigurationError:
            self.init(.configuration, error.message)
        case let error as AuthenticationSetupError:
            let isContent = error.code == .alreadyExists || error.code == .notFound
            self.init(isContent ? .failed : .configuration, "\(error)")
        case let error as AMQPError: self.init(describing: error)
        default: self.init(.failed, "\(error)")
        }
    }

    private init(describing error: AMQPError) {
        switch error.code {
        case .accessRefused:
            self.init(
                .configuration, "The broker: \(error.message)",
                hint: "Correct user, password or virtual host in AMQP_URL.")
        case .notFound:
            self.init(
                .failed, "The broker: \(error.message)",
                hint: "Is AMQP_URL the services' own? Ingest and the dispatcher declare what they use at their start.")
        case .preconditionFailed, .nacked, .returned, .resources: self.init(.failed, "The broker: \(error.message)")
        default:
            self.init(
                .unreachable, "The broker: \(error.message)",
                hint: "Is RabbitMQ running there (AMQP_URL)? `securepush doctor` checks every part.")
        }
    }
}
