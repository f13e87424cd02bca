package import ServiceConfiguration
package import ServiceLifecycle
package import ServiceRuntime

/// The operator's page: shows the state of all services, and sends failed notifications again.
package enum OperatorService: ServiceProgram {
    package static let name = "operator"
    package static let summary = "Serves the operator's page: states, failures, dead letters, and sending again."

    package static func read(_ reader: inout ConfigurationReader) -> OperatorConfiguration? {
        OperatorConfiguration(&reader)
    }

    package static func build(
        _ configuration: OperatorConfiguration, context: ServiceContext
    ) async throws -> [any Service] {
        try await buildOperator(configuration, context: context).services
    }
}
