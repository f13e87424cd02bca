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
        default: self.init(.failed, "\(error)")
        }
    }
}
