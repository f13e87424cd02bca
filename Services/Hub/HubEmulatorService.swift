import Domain
package import Logging
package import ServiceConfiguration
package import ServiceLifecycle
package import ServiceRuntime
import Storage

/// A local Azure Notification Hub for stacks and tests.
package enum HubEmulatorService: ServiceProgram {
    package static let name = "hub-emulator"
    package static let summary = "A local Azure Notification Hub: its REST API, fault injection, a page."
    package static let isTraced = false

    package static func read(_ reader: inout ConfigurationReader) -> EmulatorConfiguration? {
        EmulatorConfiguration.read(&reader)
    }

    package static func build(
        _ configuration: EmulatorConfiguration, context: ServiceContext
    ) async throws -> [any Service] {
        try await configuration.http.check()
        return try await build(configuration, context: context) { connectionString in
            // The only line on standard output: scripts read it. Logs go to standard error and never hold it.
            LogWriter.standardOutput.write(Array((connectionString + "\n").utf8))
        }
    }

    /// The services of the emulator: its store, the delivery of scheduled sends, and the HTTP server.
    ///
    /// - Parameter announce: called with the connection string once clients can connect.
    /// - Throws: ``ConfigurationError`` when the state file or the scenario cannot be used.
    static func build(
        _ configuration: EmulatorConfiguration, context: ServiceContext,
        announce: @escaping @Sendable (String) -> Void
    ) async throws -> [any Service] {
        let state: EmulatorState
        do {
            state = try EmulatorState(
                configuration, store: try await openHubTables(configuration.storage, logger: context.logger),
                tracer: context.tracer, logger: context.logger)
        } catch let error as FaultScenario.Refusal {
            throw ConfigurationError(EmulatorConfiguration.scenarioKey.name, "cannot be used: \(error)")
        } catch let error as StorageError {
            throw ConfigurationError(EmulatorConfiguration.stateKey.name, "cannot be used: \(error.message)")
        }
        let http = try makeHTTPService(
            router: HubFront(configuration, hubs: state.hubs).makeRouter(state, context: context),
            direct: SendController(state: state).directRoutes, configuration: configuration.http, context: context,
            onListening: { announce(configuration.connectionString(listeningOn: $0)) })
        let schedules = ScheduleService(schedules: state.schedules, sends: state.sends, logger: context.logger)
        let retries = RetryService(state.delivery, logger: context.logger)
        // They stop in the reverse order: requests, then their remaining work, and the store last.
        return [
            state.store.service, state.following(retries), state.following(schedules), state.following(http),
        ]
    }
}

extension EmulatorConfiguration: StartDetails {
    package var startDetails: Logger.Metadata { ["address": "\(http.address)"] }
}
