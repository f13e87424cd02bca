import ArgumentParser
import Authentication
import Messaging
import NotificationHubs
import ServiceConfiguration
import ServiceRuntime
import Storage

/// A service whose settings can be shown. Each reads them as the service does, so that what is wrong is told in the
/// same words; a test compares the keys with the services' own `--help`.
enum ConfigService: String, CaseIterable, Sendable, ExpressibleByArgument {
    case ingest
    case retrieval
    case dispatcher

    var keys: [any ConfigurationKeyDescription] {
        let logging: [any ConfigurationKeyDescription] = [ConfigurationKeys.logLevel, ConfigurationKeys.logFormat]
        var names = Set<String>()
        return (HTTPConfiguration.keys(defaultPort: defaultPort) + StorageConfiguration.keys + ownKeys + logging)
            .filter { names.insert($0.name).inserted }
    }

    private var defaultPort: Int {
        switch self {
        case .ingest: 8080
        case .retrieval: 8081
        case .dispatcher: 8082
        }
    }

    private var ownKeys: [any ConfigurationKeyDescription] {
        switch self {
        case .ingest:
            return MessagingConfiguration.keys
                + [ConfigurationKeys.payloadKeysFile, ConfigurationKeys.ingestAPIKeysFile]
                + UserAuthenticationConfiguration.verifyingKeys
                + [ConfigurationKeys.hubPlatforms, ConfigurationKeys.retention]
        case .retrieval:
            return [ConfigurationKeys.payloadKeysFile] + UserAuthenticationConfiguration.keys
                + NotificationHubConfiguration.keys
        case .dispatcher:
            return MessagingConfiguration.keys + NotificationHubConfiguration.keys + [
                ConfigurationKeys.hubPlatforms, ConfigurationKeys.dispatchPrefetch,
                ConfigurationKeys.dispatchConcurrency, ConfigurationKeys.dispatchMaxAttempts,
                ConfigurationKeys.dispatchRegisteredOnly,
            ]
        }
    }

    /// Reads everything as the service does at its start; the reader notes what is wrong.
    func check(_ reader: inout ConfigurationReader) {
        _ = HTTPConfiguration.read(&reader, defaultPort: defaultPort, isAPI: self != .dispatcher)
        _ = StorageConfiguration.read(&reader)
        _ = reader.read(ConfigurationKeys.logLevel)
        _ = reader.read(ConfigurationKeys.logFormat)
        switch self {
        case .ingest: checkIngest(&reader)
        case .retrieval: checkRetrieval(&reader)
        case .dispatcher: checkDispatcher(&reader)
        }
    }

    private func checkIngest(_ reader: inout ConfigurationReader) {
        _ = MessagingConfiguration.read(&reader, prefetch: 1, connectionName: "securepush config")
        _ = reader.require(ConfigurationKeys.payloadKeysFile)
        _ = reader.require(ConfigurationKeys.ingestAPIKeysFile)
        _ = UserAuthenticationConfiguration.read(&reader)
        _ = reader.readPlatforms()
        _ = reader.read(ConfigurationKeys.retention)
    }

    private func checkRetrieval(_ reader: inout ConfigurationReader) {
        _ = reader.require(ConfigurationKeys.payloadKeysFile)
        if let users = UserAuthenticationConfiguration.read(&reader), !users.isUsable {
            reader.note(
                ConfigurationKeys.authJWKSFile.name,
                "is not set, and neither is another AUTH_ key: no user could be authenticated")
        }
        if NotificationHubConfiguration.isConfigured(reader) { _ = NotificationHubConfiguration.read(&reader) }
    }

    private func checkDispatcher(_ reader: inout ConfigurationReader) {
        let prefetch = reader.read(ConfigurationKeys.dispatchPrefetch)
        _ = MessagingConfiguration.read(&reader, prefetch: prefetch ?? 1, connectionName: "securepush config")
        _ = NotificationHubConfiguration.read(&reader)
        _ = reader.readPlatforms()
        _ = reader.read(ConfigurationKeys.dispatchConcurrency)
        _ = reader.read(ConfigurationKeys.dispatchMaxAttempts)
        _ = reader.read(ConfigurationKeys.dispatchRegisteredOnly)
    }
}
