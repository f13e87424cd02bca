import AMQP
package import Domain
package import Logging
import ServiceLifecycle
package import Tracing

/// Publishes IDs to RabbitMQ with confirms. A message that no queue accepts is a failure.
package final class RabbitMQDispatchPublisher: DispatchPublisher, Service {
    private let publisher: AMQPPublisher
    private let topology: DispatchTopology
    private let leaders: QueueLeaderWatch
    private let spans: PublishSpans?

    /// Starts the connection's thread; ``run()`` connects.
    ///
    /// - Parameter tracer: makes a span for each message; `nil` for none.
    /// - Throws: ``AMQPError`` with code `resources` if no thread or file descriptor is left.
    package init(configuration: MessagingConfiguration, tracer: (any Tracer)? = nil, logger: Logger) throws {
        topology = configuration.topology
        spans = tracer.map { PublishSpans(tracer: $0, configuration: configuration) }
        publisher = try AMQPPublisher(
            configuration: configuration.amqp, topology: configuration.topology.declarations,
            publishTimeout: configuration.publishTimeout, logger: logger)
        leaders = QueueLeaderWatch(
            configuration: configuration.amqp, topology: configuration.topology.declarations, logger: logger)
    }

    /// Keeps the connection open, and watches the queues and their leaders, until graceful shutdown or cancellation.
    package func run() async {
        async let watch: Void = leaders.run()
        await publisher.run()
        await watch
    }

    /// Whether a publish can be expected to succeed now.
    package var isConnected: Bool { publisher.isConnected }

    /// The thread of the connection; see ``AMQPPublisher/executor``.
    package var executor: (any TaskExecutor)? { publisher.executor }

    /// Why messages are not delivered, and the remedy, for an operator; `nil` if there is no problem. Reports a binding
    /// or a queue that is missing, and a queue without a leader, even while ``isConnected`` is true, because the other
    /// queues still work.
    package var problem: String? {
        if let problem = publisher.problem { return problem }
        guard let reason = publisher.unroutable else { return leaders.problem }
        let remedy =
            topology.isDeclared
            ? "the services declare it again"
            : "declare it (`AMQP_DECLARE=auto` lets the services do so)"
        return "the broker returns messages: \(reason); \(remedy)"
    }

    /// Publishes messages, in order, and waits for the confirm of each; returns one result per message.
    package func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>] {
        guard let spans else { return await publishUntraced(messages) }
        var traced = messages
        var started: [any Tracing.Span] = []
        started.reserveCapacity(messages.count)
        for index in traced.indices { started.append(spans.start(&traced[index].message, to: traced[index].route)) }
        let results = await publishUntraced(traced)
        for (span, result) in zip(started, results) { spans.end(span, result) }
        return results
    }

    /// Publishes messages as they are.
    func publish(_ messages: [AMQPMessage]) async -> [Result<Void, AMQPError>] { await publisher.publish(messages) }

    private func publishUntraced(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>] {
        await publish(messages.map { AMQPMessage($0.message, route: $0.route, topology: topology) })
            .map { $0.mapError { MessagingError($0) } }
    }
}

extension MessagingError {
    init(_ error: AMQPError) {
        let code: Code =
            switch error.code {
            case .blocked: .blocked
            case .nacked: .nacked
            case .returned: .returned
            case .timeout: .timeout
            case .full: .full
            case .connectionLost, .closed, .queueUnavailable: .connectionLost
            default: .notConnected
            }
        self.init(code, error.message)
    }
}
