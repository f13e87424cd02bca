public import ServiceConfiguration

extension NotificationHubConfiguration {
    /// The keys that ``read(_:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.hubConnectionString, ConfigurationKeys.hubConnectionStringFile,
            ConfigurationKeys.hubName, ConfigurationKeys.hubInsecureHost,
        ]
    }

    /// Whether any of the keys is set.
    public static func isConfigured(_ reader: ConfigurationReader) -> Bool {
        reader.isSet(ConfigurationKeys.hubConnectionString) || reader.isSet(ConfigurationKeys.hubConnectionStringFile)
            || reader.isSet(ConfigurationKeys.hubName)
    }

    /// Reads `HUB_CONNECTION_STRING` or `HUB_CONNECTION_STRING_FILE`, `HUB_NAME`, and `HUB_INSECURE_HOST`.
    ///
    /// - Returns: `nil` if one of them is missing or cannot be used; the reader holds the issue.
    public static func read(_ reader: inout ConfigurationReader) -> NotificationHubConfiguration? {
        let connectionString = reader.require(
            ConfigurationKeys.hubConnectionString, orFile: ConfigurationKeys.hubConnectionStringFile)
        let name = reader.require(ConfigurationKeys.hubName)
        let insecureHost = reader.read(ConfigurationKeys.hubInsecureHost)
        guard let connectionString, let name else { return nil }
        do {
            var configuration = try NotificationHubConfiguration(
                connectionString: connectionString, hubName: name, insecureHost: insecureHost)
            configuration.connectionStringFile =
                reader.isSet(ConfigurationKeys.hubConnectionStringFile)
                ? reader.read(ConfigurationKeys.hubConnectionStringFile) : nil
            return configuration
        } catch {
            reader.note(ConfigurationKeys.hubConnectionString.name, "\(error)")
            return nil
        }
    }
}
