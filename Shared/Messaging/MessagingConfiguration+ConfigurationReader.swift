public import ServiceConfiguration

extension MessagingConfiguration {
    /// The keys that ``read(_:prefetch:connectionName:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.amqpURL, ConfigurationKeys.amqpURLFile, ConfigurationKeys.amqpDeclare,
            ConfigurationKeys.retryDelays,
        ]
    }

    /// Reads `AMQP_URL`, or the file that `AMQP_URL_FILE` names, `AMQP_DECLARE` and `RETRY_DELAYS`.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(
        _ reader: inout ConfigurationReader, prefetch: Int, connectionName: String
    ) -> MessagingConfiguration? {
        let url = reader.read(ConfigurationKeys.amqpURL, orFile: ConfigurationKeys.amqpURLFile)
        let declare = reader.read(ConfigurationKeys.amqpDeclare)
        let delays = reader.read(ConfigurationKeys.retryDelays)
        guard let url, let declare, let delays else { return nil }
        do {
            var configuration = try MessagingConfiguration(
                amqpURL: url, retryDelays: delays, prefetch: prefetch, connectionName: connectionName)
            configuration.topology.isDeclared = declare == .auto
            return configuration
        } catch {
            reader.note(ConfigurationKeys.amqpURL.name, "\(error)")
            return nil
        }
    }
}
