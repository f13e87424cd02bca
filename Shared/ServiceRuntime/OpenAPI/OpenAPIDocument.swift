import SecurePushCore

/// The description of a service's API (OpenAPI 3.1), as `GET /openapi.json` answers it.
///
/// Written by hand, in one JSON file a service; what all services answer alike stands in `common.json` of this module.
/// Tests compare it with what the services do.
public struct OpenAPIDocument: Sendable {
    /// JSON in UTF-8.
    public let bytes: [UInt8]

    /// Joins a service's document, what is common, and what only this process knows.
    ///
    /// - Parameters:
    ///   - service: the service's own document, JSON.
    ///   - settings: JSON that overrides parts of it, as the platforms that are served.
    /// - Throws: `JSONSyntaxError` for what is not JSON.
    public init(service: [UInt8], settings: String = "{}") throws {
        let version = #"{"info":{"version":\#(JSONText.quoted(SecurePushVersion.current))}}"#
        var bytes = service
        for overlay in [PackageResources.common_json, Array(version.utf8), Array(settings.utf8)] {
            bytes = try JSONMerge.merge(bytes, with: overlay)
        }
        self.bytes = bytes
    }
}
