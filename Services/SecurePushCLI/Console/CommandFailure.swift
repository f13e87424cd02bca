import AMQP
import ArgumentParser
import Authentication
import Domain
import Foundations
import NotificationHubs
import Storage

/// Why a command failed, with the exit code that scripts see.
struct CommandFailure: Error, Sendable, Equatable {
    /// The exit codes of `securepush`, with the names of sysexits.h.
    enum Code: Int32, Sendable {
        case failed = 1
        /// `send --wait answered`: the answer is not the first of `--answers`.
        case otherAnswer = 2
        /// EX_USAGE
        case usage = 64
        /// EX_UNAVAILABLE
        case unreachable = 69
        /// EX_CONFIG
        case configuration = 78

        var exitCode: ExitCode { ExitCode(rawValue) }
    }

    var code: Code
    /// One sentence.
    var message: String
    /// Further lines, one per fault.
    var details: [String] = []
    var hint: String?
    /// How long the server asks to wait (`Retry-After`), 0 s to a day.
    var retryAfter: Duration?

    init(_ code: Code, _ message: String, details: [String] = [], hint: String? = nil) {
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
    }

    var exitCode: ExitCode { code.exitCode }
}

extension CommandFailure: Encodable {
    private enum CodingKeys: String, CodingKey { case code, message = "Error", details, hint }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        if !details.isEmpty { try container.encode(details, forKey: .details) }
        try container.encodeIfPresent(hint, forKey: .hint)
    }
}

extension CommandFailure {
    /// Runs a closure that uses a file.
    ///
    /// - Parameter origin: the option or the variable that names the file.
    /// - Throws: ``CommandFailure`` with code `configuration` that names it if the file cannot be used, and the other
    ///   errors of `body`.
    static func naming<Value>(_ origin: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as FileError {
            throw CommandFailure(.configuration, "\(origin): \(error)")
        } catch let error as SetupError
            where [.unreadable, .unwritable, .malformed].contains(error.code)
        {
            throw CommandFailure(.configuration, "\(origin): \(error)")
        }
    }

    init(describing error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as StorageError:
            let code: Code = error.isRetriable ? .unreachable : error.code == .invalid ? .configuration : .failed
            let hint =
                error.code == .migrationNeeded
                ? "Run `securepush migrate`, or use the newer program."
                : error.isRetriable
                    ? "Is the database of DATABASE_URL running, with this name, role and password?"
                    : error.code == .invalid
                        ? "Correct the URL: --database-url, DATABASE_URL, or the file of DATABASE_URL_FILE." : nil
            self.init(code, "The database: \(error.message)", hint: hint)
        case let error as PushGatewayError:
            self.init(error.code == .unavailable ? .unreachable : .failed, "The hub: \(error.message)")
        case let error as SetupError:
            let isContent = error.code == .alreadyExists || error.code == .notFound
            self.init(isContent ? .failed : .configuration, "\(error)")
        case let error as AMQPError: self.init(describing: error)
        case let error as ValidationError: self.init(.usage, error.message)
        default: self.init(.failed, ErrorText.reason(error))
        }
    }

    private init(describing error: AMQPError) {
        let message = "The broker: \(error.message)"
        switch error.code {
        case .accessRefused:
            self.init(.configuration, message, hint: "Correct the user, password or virtual host in AMQP_URL.")
        case .notFound:
            self.init(
                .failed, message,
                hint: "Does AMQP_URL name the broker that the services use? "
                    + "Ingest and the dispatcher declare the queues when they start.")
        case .preconditionFailed, .nacked, .returned, .resources: self.init(.failed, message)
        default:
            self.init(
                .unreachable, message,
                hint: "Is RabbitMQ running at AMQP_URL? `securepush doctor` checks every part.")
        }
    }
}
