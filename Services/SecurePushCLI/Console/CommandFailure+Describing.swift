import AMQP
import Authentication
import NotificationHubs
import SecurePushCore
import Storage

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
