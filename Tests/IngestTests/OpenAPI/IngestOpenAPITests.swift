import APITestSupport
import Domain
import Foundation
import HTTPTypes
import Hummingbird
import ServiceConfiguration
import ServiceRuntime
import TestSupport
import Testing

@testable import Ingest

@Suite("The description of the ingest API")
struct IngestOpenAPITests {
    /// What no exchange here has, and why.
    static let excused = [
        "POST /api/notifications/batch 500": "only by a defect: what the store refuses is in the lines",
        "POST /api/notifications/batch 503": "while the keys that users' tokens are checked with are away",
    ]

    /// What an exchange cannot miss: the document says more than it has to.
    static let unneeded: Set<String> = [
        // The document as its own answer is taken as any object.
        "components/schemas/OpenAPI/properties/openapi"
    ]

    @Test func `The description lists the routes that there are`() async throws {
        try await withBuiltIngest { _, built, _ in
            // HEAD is GET's (RFC 9110, section 9.3.2).
            let routes = built.router.routes.filter { $0.method != .head }.map { "\($0.method) \($0.path)" }
            let description = try Self.description()
            #expect(Set(routes.map(\.withBraces)) == description.routes)
        }
    }

    @Test func `The description is true to the answers`() async throws {
        let ledger = try await IngestExchanges.run()
        try Self.description().expectTruth(of: ledger, excused: Self.excused, unneeded: Self.unneeded)
    }

    @Test func `The description names the platforms that are served`() throws {
        let description = try Self.description([.gcm])
        #expect(description.root.at(["components", "schemas", "Platform", "enum"]) == .array([.string("gcm")]))
        #expect(description.root.at(["info", "version"]) == .string(SecurePushVersion.current))
    }

    private static func description(
        _ platforms: [Platform] = [.apple, .fcmv1, .windows]
    ) throws -> APIDescription {
        APIDescription(try JSONNode(try ingestOpenAPI(platforms: platforms).bytes))
    }
}
