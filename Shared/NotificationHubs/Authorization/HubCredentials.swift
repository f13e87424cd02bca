import Foundations
import Logging
import ServiceConfiguration

/// The rule and key that sign tokens: from the settings, or from a file that may change while the service runs
/// (`HUB_CONNECTION_STRING_FILE`).
final class HubCredentials: Sendable {
    /// One version of the credentials; versions are compared by identity.
    final class Version: Sendable {
        let signature: SharedAccessSignature

        init(_ configuration: NotificationHubConfiguration) {
            signature = SharedAccessSignature(
                resource: configuration.resource, keyName: configuration.keyName, key: configuration.key)
        }
    }

    private let initial: Version
    private let file: ReloadingFile<Version>?

    /// - Parameter now: the clock for checking the file; tests have their own.
    init(
        configuration: NotificationHubConfiguration, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        initial = Version(configuration)
        guard let path = configuration.connectionStringFile else {
            file = nil
            return
        }
        let report: @Sendable (FileError) -> Void = { error in
            logger.error(
                "The changed connection string is not valid; the one before stays in use",
                metadata: ["path": "\(error.path)", "error": "\(error.message)"])
        }
        do {
            file = try ReloadingFile(path: path, now: now, report: report) { text in
                Version(try configuration.renewed(connectionString: text))
            }
        } catch {
            // The file could be read a moment ago, with the settings.
            report(error)
            file = nil
        }
    }

    /// The file as operators see it; `nil` without one.
    var source: ReloadableSource? { file?.source(ConfigurationKeys.hubConnectionStringFile.name) }

    /// The current credentials. The file is checked at most once per second.
    var current: Version { file?.current ?? initial }

    /// The current credentials, after reading the file again.
    func refreshed() -> Version { file?.refreshed() ?? initial }
}
