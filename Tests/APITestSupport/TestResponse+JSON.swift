// A release build compiles this target too, without the testing library.
#if canImport(Testing)
import Foundation
import HTTPTypes
package import HummingbirdTesting
import NIOCore
package import Testing

extension TestResponse {
    package var text: String { String(buffer: body) }

    /// The body as a JSON object.
    package func object(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(body.readableBytesView))
        return try #require(object as? [String: Any], sourceLocation: sourceLocation)
    }

    /// The pointers of a problem's errors, sorted.
    package func pointers() throws -> [String] {
        let errors = try object()["errors"] as? [[String: String]] ?? []
        return errors.compactMap { $0["pointer"] }.sorted()
    }

    /// Expects a problem document of this status (RFC 9457).
    package func expectProblem(_ code: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(status.code == code, "\(text)", sourceLocation: sourceLocation)
        #expect(headers[.contentType] == "application/problem+json", sourceLocation: sourceLocation)
        let problem = try object(sourceLocation: sourceLocation)
        #expect(problem["status"] as? Int == code, sourceLocation: sourceLocation)
        for member in ["type", "title", "instance"] {
            #expect(problem[member] is String, "\(member)", sourceLocation: sourceLocation)
        }
    }
}
#endif
