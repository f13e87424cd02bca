package import ServiceConfiguration
package import ServiceLifecycle
package import ServiceRuntime

/// The ingest service: takes secrets from application servers, seals and stores them, and publishes their IDs.
package enum IngestService: ServiceProgram {
    package static let name = "ingest"
    package static let summary =
        "Takes notifications from application servers, seals and stores them, and publishes their IDs."

    package static func read(_ reader: inout ConfigurationReader) -> IngestConfiguration? {
        IngestConfiguration(&reader)
    }

    package static func build(
        _ configuration: IngestConfiguration, context: ServiceContext
    ) async throws -> [any Service] {
        try await buildIngest(configuration, context: context).services
    }
}
