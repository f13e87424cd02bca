import Hummingbird
import Messaging
import NotificationHubs
import SecurePushCore
import ServiceLifecycle
import ServiceRuntime
import Storage

/// The parts of a dispatcher, in the order in which they start; they stop in the reverse order.
struct BuiltDispatcher {
    var services: [any Service]
    var store: any Store
}

/// The composition root: reads nothing, makes every part and joins them. Tests call it too.
func buildDispatcher(
    _ configuration: DispatcherConfiguration, context: ServiceContext
) async throws -> BuiltDispatcher {
    let opened = try await openStore(configuration.storage, logger: context.logger)
    let publisher = try RabbitMQDispatchPublisher(configuration: configuration.messaging, logger: context.logger)
    let consumer = try RabbitMQDispatchConsumer(configuration: configuration.messaging, logger: context.logger)
    let sender = HubSender(
        configuration: configuration.hub, concurrency: configuration.concurrency, logger: context.logger)
    if configuration.hub.connectionStringFile != nil {
        context.onReload("hub connection string") { sender.reload() }
    }
    let pipeline = DispatchPipeline(
        consumer: consumer, publisher: publisher, ledger: opened.store, gateway: sender, policy: configuration.policy,
        registered: configuration.registeredOnly ? opened.store : nil, lanes: configuration.lanes,
        logger: context.logger)
    let router = makeRouter(of: BasicRequestContext.self, context: context)
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            ReadinessCheck(name: "amqp") { consumer.problem ?? publisher.problem },
        ], context: context)
    let http = try makeHTTPService(router: router, configuration: configuration.http, context: context)
    // Stopped in reverse: the consumer first, which waits until the pipeline has settled what it was given, and tells
    // the pipeline at once that it stops; only then the pipeline, and after it what it needs.
    let draining = TellingShutdown(consumer) { pipeline.drain() }
    return BuiltDispatcher(
        services: [opened.service, publisher, sender, IdlesUntilShutdown(pipeline), draining, http], store: opened.store)
}
