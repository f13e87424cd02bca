import SecurePushCore
import ServiceConfiguration
import ServiceLifecycle

/// What a failed start or run looks like to the operator.
enum ServiceFailure {
    /// The lines for standard error, and the exit code: 78 for a configuration that cannot be used, else 1.
    static func report(_ error: any Error, name: String) -> (lines: [String], code: Int32) {
        switch error {
        case let error as ConfigurationError:
            (error.issues.map { "\(name): \($0)" }, ServiceMain.ExitCode.configuration)
        case let error as StorageError where error.code == .invalid:
            (["\(name): \(ConfigurationKeys.databaseURL.name): \(error.message)"], ServiceMain.ExitCode.configuration)
        case is CancellationError:
            (["\(name): stopped before everything was drained"], ServiceMain.ExitCode.failure)
        default:
            (["\(name): \(oneLine(String(describing: error)))"], ServiceMain.ExitCode.failure)
        }
    }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
