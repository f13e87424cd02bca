public import AMQP

/// Where the broker is and how the dispatch queues are set up.
public struct MessagingConfiguration: Sendable {
    /// The connection's settings: nodes, credentials, heartbeat, timeouts.
    public var amqp: AMQPConfiguration
    public var topology: DispatchTopology
    /// Deliveries that the broker hands out before it waits for settlements, 1 to 65535.
    public var prefetch: Int
    /// How long a publish waits for its confirms.
    public var publishTimeout: Duration = .seconds(5)

    /// - Parameters:
    ///   - amqpURL: see ``AMQPConfiguration/init(url:connectionName:)``.
    ///   - retryDelays: `RETRY_DELAYS`, one delay queue each.
    ///   - connectionName: the connection's name in the broker's management views.
    ///   - prefix: what the names of exchanges and queues begin with.
    public init(
        amqpURL: String, retryDelays: [Duration], prefetch: Int = 256, connectionName: String,
        prefix: String = "securepush"
    ) throws(MessagingConfigurationError) {
        do {
            amqp = try AMQPConfiguration(url: amqpURL, connectionName: connectionName)
        } catch { throw MessagingConfigurationError(message: error.message) }
        guard (1...65535).contains(prefetch) else {
            throw MessagingConfigurationError(message: "the prefetch is not a number from 1 to 65535")
        }
        let usable: ClosedRange<Duration> = .milliseconds(1) ... .seconds(86_400 * 40)
        guard !retryDelays.isEmpty, retryDelays.allSatisfy(usable.contains) else {
            throw MessagingConfigurationError(message: "a retry delay is not between 1ms and 40d, or there is none")
        }
        self.prefetch = prefetch
        topology = DispatchTopology(retryDelays: retryDelays, prefix: prefix)
    }
}

/// A setting that cannot be used. Its message never holds a credential.
public struct MessagingConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    public var message: String
    public var description: String { message }
}
