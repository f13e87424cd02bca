import Domain
import Foundations
import Hummingbird
import Logging
package import ServiceConfiguration
package import ServiceLifecycle
package import ServiceRuntime
import Storage

/// The notification hub: the REST API of Azure Notification Hubs, with connectors to the push services.
package enum HubService: ServiceProgram {
    package static let name = "hub"
    package static let summary =
        "A notification hub of your own: the REST API of Azure Notification Hubs, and pushes to push services."

    package static func read(_ reader: inout ConfigurationReader) -> HubServiceConfiguration? {
        HubServiceConfiguration(&reader)
    }

    package static func build(
        _ configuration: HubServiceConfiguration, context: ServiceContext
    ) async throws -> [any Service] {
        try await buildHub(configuration, context: context).services
    }
}

/// The parts of a hub, in the order in which they start; they stop in the reverse order.
struct BuiltHub {
    var services: [any Service]
    var state: EmulatorState
    var router: Router<EmulatorContext>
}

/// The composition root: creates every part from the settings and connects the parts. Tests call it too.
func buildHub(_ configuration: HubServiceConfiguration, context: ServiceContext) async throws -> BuiltHub {
    // The checks of settings come first, so that a start that fails has made nothing.
    try await configuration.http.check()
    let logger = context.logger
    let access = try ConfigurationKeys.hubAccessFile.making {
        try HubAccessFile(path: configuration.accessFile, endpointHost: configuration.http.host, logger: logger)
    }
    let credentials = try ConfigurationKeys.pushCredentialsFile.making {
        try PushCredentialsFile(path: configuration.credentialsFile, logger: logger)
    }
    let opened = try await openHubTables(configuration.storage, logger: logger)
    let connectors = PushConnectors(
        outgoing: configuration.outgoing, tokens: StoredPushTokens(tables: opened.tables), logger: logger)
    let watch = CredentialsWatch(
        credentials, connectors: connectors, settings: configuration.delivery, logger: logger)
    watch.tell(hubs: access.current.hubs)
    let state = EmulatorState(
        configuration, store: opened, access: access, lanes: watch.lanes, tracer: context.tracer, logger: logger)

    var front = HubFront(configuration, hubs: state.hubs) { watch.isSimulated }
    front.readiness = [
        ReadinessCheck(name: "database") { await opened.readiness() },
        // The other platforms and hubs go on.
        ReadinessCheck(name: "push_services", isRequired: false) {
            let problems = state.lanes.problems
            return problems.isEmpty ? nil : problems.joined(separator: "; ")
        },
        context.watch([access.source, credentials.source]),
    ]
    front.details = [
        ReadinessDetail(name: "simulated") {
            let simulated = watch.simulated
            return simulated.isEmpty ? nil : simulated.map { ($0, 1) }
        },
        ReadinessDetail(name: "in_flight") {
            state.lanes.reports.map { ("\($0.lane.hub)/\($0.lane.platform)", Int64($0.inFlight)) }
        },
    ]
    let router = front.makeRouter(state, context: context)
    let http = try makeHTTPService(
        router: router, direct: SendController(state: state).directRoutes, configuration: configuration.http,
        context: context)
    let schedules = ScheduleService(schedules: state.schedules, sends: state.sends, logger: logger)
    let retries = RetryService(state.delivery, logger: logger)
    return BuiltHub(
        services: [
            opened.service, watch, state.following(retries), state.following(schedules), state.following(http),
        ], state: state, router: router)
}
