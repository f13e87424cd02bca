import Foundations

/// The description of a service's API (OpenAPI 3.1), which `GET /openapi.json` answers.
///
/// Each service has one JSON file, written by hand. `common.json` of this module has the parts that all services share.
/// Tests compare the document with the behaviour of the services.
package struct OpenAPIDocument: Sendable {
    /// The document as JSON in UTF-8, without blanks.
    package let bytes: [UInt8]

    /// Merges a service's document, the common parts, and settings of this process.
    ///
    /// - Parameters:
    ///   - service: the service's own document as JSON.
    ///   - settings: JSON that overrides parts of it, for example the platforms.
    /// - Throws: `JSONSyntaxError` if one of them is not JSON.
    package init(service: [UInt8], settings: String = "{}") throws {
        let version = #"{"info":{"version":\#(JSONText.quoted(SecurePushVersion.current))}}"#
        var document = try JSONValue(service)
        for overlay in [PackageResources.common_json, Array(version.utf8), Array(settings.utf8)] {
            document = document.merging(try JSONValue(overlay))
        }
        bytes = Array(document.json.utf8)
    }
}
