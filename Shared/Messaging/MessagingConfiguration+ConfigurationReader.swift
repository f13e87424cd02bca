import AMQP
public import ServiceConfiguration

extension MessagingConfiguration {
    /// The keys that ``read(_:prefetch:connectionName:)`` uses, for a service's list.
    public static var keys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.amqpURL, ConfigurationKeys.amqpURLFile, ConfigurationKeys.amqpDeclare,
            ConfigurationKeys.retryDelays, ConfigurationKeys.allowInsecure,
        ]
    }

    /// Reads `AMQP_URL`, or the file that `AMQP_URL_FILE` names, `AMQP_DECLARE` and `RETRY_DELAYS`. Nodes beyond
    /// loopback need verified TLS, unless `ALLOW_INSECURE` names `amqp`.
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
            let hosts = configuration.amqp.unverifiedHosts.filter { !InsecureLink.isLoopback($0) }
            reader.refuse(
                hosts.map { "names \($0)" }, of: ConfigurationKeys.amqpURL.name, as: .amqp,
                remedy: "use amqps:// without verify_none")
            return configuration
        } catch {
            reader.note(ConfigurationKeys.amqpURL.name, "\(error)")
            return nil
        }
    }
}
