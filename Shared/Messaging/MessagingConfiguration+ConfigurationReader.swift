public import ServiceConfiguration

extension MessagingConfiguration {
    /// The keys that ``read(_:prefetch:connectionName:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [ConfigurationKeys.amqpURL, ConfigurationKeys.retryDelays]
    }

    /// Reads `AMQP_URL` and `RETRY_DELAYS`.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(
        _ reader: inout ConfigurationReader, prefetch: Int, connectionName: String
    ) -> MessagingConfiguration? {
        let url = reader.read(ConfigurationKeys.amqpURL)
        let delays = reader.read(ConfigurationKeys.retryDelays)
        guard let url, let delays else { return nil }
        do {
            return try MessagingConfiguration(
                amqpURL: url, retryDelays: delays, prefetch: prefetch, connectionName: connectionName)
        } catch {
            reader.note(ConfigurationKeys.amqpURL.name, "\(error)")
            return nil
        }
    }
}
