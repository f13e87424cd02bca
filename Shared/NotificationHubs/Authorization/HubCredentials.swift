import Logging
import SecurePushCore

/// The rule and key that tokens are signed with: from the settings, or from a file that may change while the service
/// runs (`HUB_CONNECTION_STRING_FILE`).
final class HubCredentials: Sendable {
    /// One version of the credentials, told from another by identity.
    final class Version: Sendable {
        let signature: SharedAccessSignature

        init(_ configuration: NotificationHubConfiguration) {
            signature = SharedAccessSignature(
                resource: configuration.resource, keyName: configuration.keyName, key: configuration.key)
        }
    }

    private let initial: Version
    private let file: ReloadingFile<Version>?

    /// - Parameter now: the clock that looks at the file go by; tests bring their own.
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
                "The changed connection string cannot be used; the one before stays in force",
                metadata: ["path": "\(error.path)", "error": "\(error.message)"])
        }
        do {
            file = try ReloadingFile(path: path, now: now, report: report) { text in
                Version(try configuration.renewed(connectionString: text))
            }
        } catch {
            // It could be read a moment ago, when the settings were.
            report(error)
            file = nil
        }
    }

    /// The credentials as they are now; a file is looked at once a second at most.
    var current: Version { file?.current ?? initial }

    /// The credentials after a look at the file in any case.
    func refreshed() -> Version { file?.refreshed() ?? initial }
}
