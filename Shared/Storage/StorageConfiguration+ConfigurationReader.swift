import SecurePushCore
public import ServiceConfiguration

extension StorageConfiguration {
    /// The keys that ``read(_:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.databaseURL, ConfigurationKeys.databaseURLFile, ConfigurationKeys.databaseMigrate,
            ConfigurationKeys.allowInsecure,
        ]
    }

    /// Reads `DATABASE_URL`, or the file that `DATABASE_URL_FILE` names, and `DATABASE_MIGRATE`. A server beyond
    /// loopback needs verified TLS, unless `ALLOW_INSECURE` names `postgres`.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(_ reader: inout ConfigurationReader) -> StorageConfiguration? {
        let url = reader.read(ConfigurationKeys.databaseURL, orFile: ConfigurationKeys.databaseURLFile)
        let migrate = reader.read(ConfigurationKeys.databaseMigrate)
        guard let url, let migrate else { return nil }
        do {
            let configuration = try StorageConfiguration(
                url: url, migrations: migrate == .auto ? .automatic : .check)
            let hosts = try configuration.unverifiedHosts.filter { !InsecureLink.isLoopback($0) }
            reader.refuse(
                hosts.map { "names \($0)" }, of: ConfigurationKeys.databaseURL.name, as: .postgres,
                remedy: "use sslmode=verify-full (or verify-ca)")
            return configuration
        } catch {
            reader.note(ConfigurationKeys.databaseURL.name, error.message)
            return nil
        }
    }
}
