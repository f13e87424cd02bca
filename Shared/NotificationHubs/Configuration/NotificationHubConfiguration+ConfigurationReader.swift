public import ServiceConfiguration

extension NotificationHubConfiguration {
    /// The keys that ``read(_:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [ConfigurationKeys.hubConnectionString, ConfigurationKeys.hubConnectionStringFile, ConfigurationKeys.hubName]
    }

    /// Whether any of the keys is set.
    public static func isConfigured(_ reader: ConfigurationReader) -> Bool {
        keys.contains { reader.isSet($0) }
    }

    /// Reads `HUB_CONNECTION_STRING` or `HUB_CONNECTION_STRING_FILE`, and `HUB_NAME`.
    ///
    /// - Returns: `nil` if one of them is missing or cannot be used; the reader holds the issue.
    public static func read(_ reader: inout ConfigurationReader) -> NotificationHubConfiguration? {
        let connectionString = reader.require(
            ConfigurationKeys.hubConnectionString, orFile: ConfigurationKeys.hubConnectionStringFile)
        let name = reader.require(ConfigurationKeys.hubName)
        guard let connectionString, let name else { return nil }
        do {
            return try NotificationHubConfiguration(connectionString: connectionString, hubName: name)
        } catch {
            reader.note(ConfigurationKeys.hubConnectionString.name, "\(error)")
            return nil
        }
    }
}
