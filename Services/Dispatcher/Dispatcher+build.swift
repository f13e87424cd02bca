import Domain
import Foundations
import Hummingbird
import Messaging
import NotificationHubs
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime
import Storage

/// The composition root: makes every part and connects them. It reads no settings.
///
/// - Returns: the services in the order in which they start. They stop in the reverse order.
func buildDispatcher(
    _ configuration: DispatcherConfiguration, context: ServiceContext
) async throws -> [any Service] {
    // The parts that a wrong setting can stop come first, so that a start that fails has opened nothing.
    try await configuration.http.check()
    let signer = try configuration.own.pushSigningKeyFile.map { path in
        try ConfigurationKeys.pushSigningKeyFile.making { try PushSigner(path: path, logger: context.logger) }
    }
    let hub = try HubParts(configuration, context)
    let context = try context.auditing(to: configuration.own.auditLog)
    let opened = try await openStore(configuration.storage, logger: context.logger)
    let publisher = try RabbitMQDispatchPublisher(
        configuration: configuration.messaging, tracer: context.tracer, logger: context.logger)
    let consumer = try RabbitMQDispatchConsumer(
        configuration: configuration.messaging, publisher: publisher, logger: context.logger)
    let silent = configuration.own.silentInterval.map {
        SilentBudget(store: opened.store, interval: $0, logger: context.logger)
    }
    let tracing = context.tracer.map { tracer in
        ProcessTracing(
            tracer: tracer, destination: configuration.messaging.topology.dispatchDestination,
            routingKey: DispatchTopology.dispatchKey)
    }
    let pipeline = DispatchPipeline(
        consumer: consumer, publisher: publisher, store: opened.store, gateway: hub.gateway,
        policy: configuration.policy, registered: configuration.own.registeredOnly ? opened.store : nil,
        lanes: configuration.lanes, hubs: hub.pool, signer: signer,
        browserPage: configuration.own.browserPage, silent: silent, tracing: tracing, logger: context.logger)
    let sources = [hub.source, signer?.source].compactMap(\.self)
    let files = sources.isEmpty && context.audit == nil ? [] : [context.watch(sources)]
    let router = makeRouter(of: BasicRequestContext.self, context: context)
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            ReadinessCheck(name: "amqp") { consumer.problem ?? publisher.problem ?? pipeline.settler.held.problem() },
        ] + files, context: context)
    let http = try makeHTTPService(router: router, configuration: configuration.http, context: context)
    var outcomes: [any Service] = []
    if configuration.own.asksForOutcomes {
        let telemetry = hub.telemetry()
        let watch = OutcomeWatch(store: opened.store, hub: telemetry, logger: context.logger)
        outcomes = [telemetry, opened.following(watch)]
    }
    // Stopped in reverse. The consumer is first: it tells the pipeline at once, and waits until the pipeline has
    // settled its deliveries. Then the pipeline stops, and after it the parts that it uses.
    let draining = ShutdownObserver(consumer) { pipeline.drain() }
    return [opened.service] + outcomes + [publisher, hub.gateway, KeepAliveService(pipeline), draining]
        + [context.audit].compactMap(\.self) + [http]
}

/// The clients of the hub, or of the hubs.
private struct HubParts {
    let gateway: any PushGateway & Service
    /// `nil` for a single hub.
    var pool: Lanes.Source?
    /// The file of the hubs, or of the connection string.
    let source: ReloadableSource?
    /// Makes the client that asks for the outcomes of messages (`HUB_TELEMETRY`).
    let telemetry: () -> any HubTelemetry & Service

    init(_ configuration: DispatcherConfiguration, _ context: ServiceContext) throws {
        let (concurrency, tracer, logger) = (configuration.own.concurrency, context.tracer, context.logger)
        switch configuration.hub {
        case .single(let hub):
            let sender = HubSender(configuration: hub, concurrency: concurrency, tracer: tracer, logger: logger)
            (gateway, source) = (sender, sender.source)
            telemetry = { HubDevices(configuration: hub, sharingTokensOf: sender, logger: logger) }
        case .pool(let settings):
            let file = try ConfigurationKeys.hubPoolFile.making { try HubPoolFile(settings, logger: logger) }
            let senders = HubSenderPool(file: file, concurrency: concurrency, tracer: tracer, logger: logger)
            (gateway, source, pool) = (senders, file.source, { senders.table })
            telemetry = { HubDevicesPool(file: file, logger: logger) }
        }
    }
}
