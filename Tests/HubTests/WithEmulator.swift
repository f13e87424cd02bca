import Hummingbird
import HummingbirdTesting
import Logging
import ServiceLifecycle
import ServiceRuntime
import StackKit
import Storage
import TestSupport
import Testing

@testable import Hub

/// The rule that the tests sign with.
let testKey = "c2VjdXJlcHVzaC1odWItZW11bGF0b3ItdGVzdC1rZXk="
let testConnectionString = HubConnectionString(
    endpoint: "http://127.0.0.1:8090/", keyName: SharedAccessRule.defaultFullName, key: testKey)

/// Runs a test against an emulator of its own.
func withEmulator(
    _ kind: TestingSetup = .router, hubNames: Set<String>? = nil, recordCapacity: Int = 10_000,
    stateFile: String? = nil, webAppFolder: String? = nil, pushers: PlatformPushers = .simulated,
    delivery: DeliverySettings = .init(), tellsOutcomes: Bool = false, spans: SpanTable? = nil,
    _ test: @escaping @Sendable (Emulator) async throws -> Void
) async throws {
    var configuration = EmulatorConfiguration(
        http: HTTPConfiguration(port: 0), connectionString: testConnectionString)
    configuration.hubNames = hubNames
    configuration.recordCapacity = recordCapacity
    configuration.stateFile = stateFile
    configuration.webAppFolder = webAppFolder
    let context = ServiceContext(
        name: "hub-emulator", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        metrics: PrometheusMetrics(), tracer: spans?.tracer())
    try await withTables(try configuration.storage) { store in
        let state = try EmulatorState(
            configuration, store: store, pushers: pushers, delivery: delivery, tellsOutcomes: tellsOutcomes,
            tracer: context.tracer,
            logger: context.logger)
        try await state.hubs.load()
        let router = HubFront(configuration, hubs: state.hubs).makeRouter(state, context: context)
        let application = try makeHTTPApplication(
            router: router, direct: SendController(state: state).directRoutes, configuration: configuration.http,
            context: context)
        let listenKey = configuration.listenKey
        try await application.test(kind) { client in
            try await test(Emulator(client: client, listenKey: listenKey, state: state))
        }
    }
}

/// Runs a test with tables of a hub, by default in memory, whose store serves.
func withTables<Value: Sendable>(
    _ storage: StorageConfiguration? = nil, _ test: (OpenedHubTables) async throws -> Value
) async throws -> Value {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let store = try await openHubTables(try storage ?? StorageConfiguration(url: "memory:"), logger: logger)
    let services = ServiceGroup(services: [store.service], gracefulShutdownSignals: [], logger: logger)
    let running = Task { try await services.run() }
    let result: Result<Value, any Error>
    do {
        let isServing = try await eventually { await store.readiness() == nil }
        #expect(isServing)
        result = .success(try await test(store))
    } catch {
        result = .failure(error)
    }
    await services.triggerGracefulShutdown()
    try await running.value
    return try result.get()
}
