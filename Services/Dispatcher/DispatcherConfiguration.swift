import Hummingbird
import Logging
import Messaging
import NotificationHubs
import SecurePushCore
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime
import Storage

/// The settings of a dispatcher.
struct DispatcherConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var messaging: MessagingConfiguration
    var hub: HubSettings
    var own: DispatcherSettings

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: DispatcherSettings.defaultPort, isAPI: false)
        let storage = StorageConfiguration.read(&reader)
        own = DispatcherSettings(&reader)
        let messaging = MessagingConfiguration.read(
            &reader, prefetch: own.prefetch, connectionName: "dispatcher")
        let hub = HubSettings.read(&reader)
        guard let http, let storage, let messaging, let hub else { return nil }
        (self.http, self.storage, self.messaging, self.hub) = (http, storage, messaging, hub)
        self.storage.withdrawals = own.withdrawals
        self.messaging.topology.publishesNew = false
    }
}

extension DispatcherConfiguration {
    var policy: DispatchPolicy {
        DispatchPolicy(
            platforms: own.platforms, maxAttempts: own.maxAttempts, retryDelays: own.retryDelays,
            withdrawals: own.withdrawals)
    }
}

extension DispatcherConfiguration {
    /// One lane per platform and hub; the lanes of a hub share its limit.
    var lanes: LaneSettings {
        LaneSettings(
            platforms: own.platforms, concurrency: own.concurrency, prefetch: own.prefetch,
            hub: hub.hubs.first?.hubName ?? "", endpoint: hub.hubs.first?.endpoint.url ?? "")
    }
}

extension DispatcherConfiguration {
    fileprivate func tracing(_ context: ServiceContext) -> ProcessTracing? {
        context.tracer.map { tracer in
            ProcessTracing(
                tracer: tracer, destination: messaging.topology.dispatchDestination,
                routingKey: DispatchTopology.dispatchKey)
        }
    }
}

extension DispatcherConfiguration {
    /// Asks the hub, or each user's hub, for the outcomes of its messages; empty without `HUB_TELEMETRY`.
    ///
    /// - Parameter senders: whose file of credentials is watched.
    fileprivate func outcomeServices(
        _ store: any Store, _ senders: Senders, _ context: ServiceContext
    ) -> [any Service] {
        guard own.asksForOutcomes else { return [] }
        if let file = senders.file {
            let pool = HubDevicesPool(file: file, logger: context.logger)
            return [pool, OutcomeWatch(store: store, hub: pool, logger: context.logger)]
        }
        guard case .single(let configuration) = hub, let sender = senders.single else { return [] }
        let telemetry = HubDevices(configuration: configuration, sharingTokensOf: sender, logger: context.logger)
        return [telemetry, OutcomeWatch(store: store, hub: telemetry, logger: context.logger)]
    }
}

/// The parts of a dispatcher in the order in which they start. They stop in the reverse order.
struct BuiltDispatcher {
    var services: [any Service]
    var store: any Store
}

/// The composition root: makes every part and connects them. It reads no settings. Tests call it too.
func buildDispatcher(
    _ configuration: DispatcherConfiguration, context: ServiceContext
) async throws -> BuiltDispatcher {
    // What a setting can be wrong about comes first, so that a start that fails has made nothing.
    try await configuration.http.check()
    let signer = try configuration.own.pushSigningKeyFile.map { path in
        try ConfigurationKeys.pushSigningKeyFile.making { try PushSigner(path: path, logger: context.logger) }
    }
    let senders = try makeSenders(configuration, context: context)
    let context = try context.auditing(to: configuration.own.auditLog)
    let opened = try await openStore(configuration.storage, logger: context.logger)
    let publisher = try RabbitMQDispatchPublisher(
        configuration: configuration.messaging, tracer: context.tracer, logger: context.logger)
    let consumer = try RabbitMQDispatchConsumer(
        configuration: configuration.messaging, publisher: publisher, logger: context.logger)
    let silent = configuration.own.silentInterval.map {
        SilentBudget(store: opened.store, interval: $0, logger: context.logger)
    }
    let pipeline = DispatchPipeline(
        consumer: consumer, publisher: publisher, store: opened.store, followUps: opened.store,
        gateway: senders.gateway,
        policy: configuration.policy, registered: configuration.own.registeredOnly ? opened.store : nil,
        lanes: configuration.lanes, hubs: senders.hubs, signer: signer, silent: silent,
        tracing: configuration.tracing(context),
        logger: context.logger)
    let sources = [senders.source, signer?.source].compactMap(\.self)
    let files = sources.isEmpty && context.audit == nil ? [] : [context.watch(sources)]
    let router = makeRouter(of: BasicRequestContext.self, context: context)
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            ReadinessCheck(name: "amqp") { consumer.problem ?? publisher.problem ?? pipeline.settler.held.problem() },
        ] + files, context: context)
    let http = try makeHTTPService(router: router, configuration: configuration.http, context: context)
    // Stopped in reverse. The consumer is first: it tells the pipeline at once, and waits until the pipeline has
    // settled its deliveries. Then the pipeline stops, and after it the parts that it uses.
    let draining = ShutdownObserver(consumer) { pipeline.drain() }
    return BuiltDispatcher(
        services: [opened.service] + configuration.outcomeServices(opened.store, senders, context)
            + [publisher, senders.service, KeepAliveService(pipeline), draining]
            + [context.audit].compactMap(\.self) + [http], store: opened.store)
}

/// What sends to the hub, or to the hubs.
private struct Senders {
    var gateway: any PushGateway
    var service: any Service
    /// `nil` for several hubs.
    var single: HubSender?
    /// `nil` for a single hub.
    var hubs: LanePool.Source?
    /// The file of the hubs.
    var file: HubPoolFile?
    /// That file, or the file of the connection string.
    var source: ReloadableSource?
}

private func makeSenders(_ configuration: DispatcherConfiguration, context: ServiceContext) throws -> Senders {
    switch configuration.hub {
    case .single(let hub):
        let sender = HubSender(
            configuration: hub, concurrency: configuration.own.concurrency, tracer: context.tracer,
            logger: context.logger)
        return Senders(gateway: sender, service: sender, single: sender, source: sender.source)
    case .pool(let settings):
        let file = try ConfigurationKeys.hubPoolFile.making { try HubPoolFile(settings, logger: context.logger) }
        let pool = HubSenderPool(
            file: file, concurrency: configuration.own.concurrency, tracer: context.tracer, logger: context.logger)
        return Senders(gateway: pool, service: pool, hubs: { pool.table }, file: file, source: file.source)
    }
}

extension DispatcherConfiguration: StartDetails {
    var startDetails: Logger.Metadata {
        [
            "address": "\(http.address)", "store": "\(storage)", "broker": "\(messaging)",
            "hub": "\(hub.hubs.map(\.hubName).joined(separator: ","))",
            "endpoint": "\(Set(hub.hubs.map(\.endpoint.url)).sorted().joined(separator: ","))",
            "platforms": "\(own.platforms.map(\.rawValue).joined(separator: ","))",
        ]
    }
}
