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
        bytes = Array(try Self.completed(document).json.utf8)
    }

    /// The document with the answers that every operation may give: 400 to bytes that are not HTTP, 405 to a method
    /// that its path does not have.
    private static func completed(_ document: JSONValue) throws -> JSONValue {
        let answers = try JSONValue(
            Array(
                #"""
                {"responses":{"400":{"$ref":"#/components/responses/BadRequest"},
                "405":{"$ref":"#/components/responses/MethodNotAllowed"}}}
                """#.utf8))
        let paths = (document["paths"]?.members ?? []).map { path in
            let operations = path.value.members ?? []
            return JSONValue.Member(
                path.name, .object(operations.map { JSONValue.Member($0.name, $0.value.merging(answers)) }))
        }
        return document.merging(.object([JSONValue.Member("paths", .object(paths))]))
    }
}
