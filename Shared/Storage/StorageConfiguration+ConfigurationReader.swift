import SecurePushCore
public import ServiceConfiguration

extension StorageConfiguration {
    /// The keys that ``read(_:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [ConfigurationKeys.databaseURL, ConfigurationKeys.databaseURLFile, ConfigurationKeys.databaseMigrate]
    }

    /// Reads `DATABASE_URL`, or the file that `DATABASE_URL_FILE` names, and `DATABASE_MIGRATE`.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(_ reader: inout ConfigurationReader) -> StorageConfiguration? {
        let url = reader.read(ConfigurationKeys.databaseURL, orFile: ConfigurationKeys.databaseURLFile)
        let migrate = reader.read(ConfigurationKeys.databaseMigrate)
        guard let url, let migrate else { return nil }
        do {
            return try StorageConfiguration(url: url, migrations: migrate == .auto ? .automatic : .check)
        } catch {
            reader.note(ConfigurationKeys.databaseURL.name, error.message)
            return nil
        }
    }
}
