package import ServiceConfiguration
package import ServiceLifecycle
package import ServiceRuntime

/// The retrieval service: serves secrets to their recipients' devices, and registers the devices with the hub.
package enum RetrievalService: ServiceProgram {
    package static let name = "retrieval"
    package static let summary = "Gives notifications to their owners' devices, and registers the devices."

    package static func read(_ reader: inout ConfigurationReader) -> RetrievalConfiguration? {
        RetrievalConfiguration(&reader)
    }

    package static func build(
        _ configuration: RetrievalConfiguration, context: ServiceContext
    ) async throws -> [any Service] {
        try await buildRetrieval(configuration, context: context).services
    }
}
