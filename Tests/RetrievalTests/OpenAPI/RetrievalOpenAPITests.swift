import APITestSupport
import Authentication
import Domain
import Foundation
import HTTPTypes
import Hummingbird
import ServiceConfiguration
import ServiceRuntime
import TestSupport
import Testing

@testable import Retrieval

@Suite("The description of the retrieval API")
struct RetrievalOpenAPITests {
    /// What no exchange here has, and why.
    static let excused = [
        "GET /api/push-keys 500": "only by a defect: it asks neither the store nor the hub",
        "GET /api/push-keys 503": "only above HTTP_MAX_IN_FLIGHT",
        "GET /api/push-config 500": "only by a defect: it asks neither the store nor the hub",
        "GET /api/push-config 503": "only above HTTP_MAX_IN_FLIGHT",
    ]

    /// What an exchange cannot miss: the document says more than it has to.
    static let unneeded: Set<String> = [
        // The document as its own answer is taken as any object.
        "components/schemas/OpenAPI/properties/openapi",
        // A key may have other members, so a request with these would be taken without their description.
        "components/schemas/EncryptionKey/properties/kty",
        "components/schemas/EncryptionKey/properties/crv",
        "components/schemas/EncryptionKey/properties/x",
        "components/schemas/EncryptionKey/properties/y",
        // Keys with these are refused.
        "components/schemas/EncryptionKey/properties/d", "components/schemas/EncryptionKey/properties/p",
        "components/schemas/EncryptionKey/properties/q", "components/schemas/EncryptionKey/properties/dp",
        "components/schemas/EncryptionKey/properties/dq", "components/schemas/EncryptionKey/properties/qi",
        "components/schemas/EncryptionKey/properties/oth", "components/schemas/EncryptionKey/properties/k",
        // Nor are other parameters of a form refused (RFC 6749, section 3.2).
        "components/schemas/RefreshForm/properties/grant_type",
        "components/schemas/RefreshForm/properties/refresh_token",
        "components/schemas/RefreshForm/properties/scope",
        "components/schemas/RefreshForm/properties/client_id",
    ]

    @Test func `The description lists the routes that there are`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-openapi-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = { (name: String) in folder.appending(path: name).path }
        try Data(PayloadKeyRing.newLine().utf8).write(to: folder.appending(path: "payload-keys"))
        try TokenSigningKey.make(at: path("signing-key.pem"))
        var reader = ConfigurationReader(environment: [
            "DATABASE_URL": "memory:", "PAYLOAD_KEYS_FILE": path("payload-keys"),
            "AUTH_TOKEN_SIGNING_KEY_FILE": path("signing-key.pem"),
        ])
        let read = RetrievalConfiguration(&reader)
        let configuration = try #require(read, "\(reader.issues)")
        let context = ServiceContext(name: "retrieval", logger: .silent, metrics: PrometheusMetrics())
        let built = try await buildRetrieval(configuration, context: context)
        // HEAD is GET's (RFC 9110, section 9.3.2).
        let routes = built.router.routes.filter { $0.method != .head }.map { "\($0.method) \($0.path)" }
        #expect(Set(routes.map(\.withBraces)) == (try Self.description()).routes)
    }

    @Test func `The description is true to the answers`() async throws {
        let ledger = try await RetrievalExchanges.run()
        try Self.description().expectTruth(of: ledger, excused: Self.excused, unneeded: Self.unneeded)
    }

    private static func description() throws -> APIDescription {
        APIDescription(try JSONNode(try retrievalOpenAPI().bytes))
    }
}
