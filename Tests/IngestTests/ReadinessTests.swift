import APITestSupport
import Domain
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import ServiceConfiguration
import ServiceRuntime
import TestSupport
import Testing

@testable import Ingest

@Suite("Readiness of ingest")
struct ReadinessTests {
    @Test func `Without the broker ingest is ready`() async throws {
        let answer = try await readiness(databaseURL: "memory:")
        #expect(answer.status == .ok)
        let report = try answer.object()
        #expect(report["status"] as? String == "ready")
        #expect(report["amqp"] as? String == "down")
        #expect((report["checks"] as? [String: String]) == ["database": "up", "amqp": "down", "files": "up"])
    }

    @Test func `Without the database ingest is not ready`() async throws {
        let password = "s3cret-\(UUID().uuidString)"
        let answer = try await readiness(databaseURL: "postgres://nobody:\(password)@127.0.0.1:1/none")
        #expect(answer.status == .serviceUnavailable)
        let report = try answer.object()
        #expect(report["status"] as? String == "unready")
        #expect(report["database"] as? String == "down")
        #expect(!answer.text.contains(password))
    }

    /// What the composed service answers while nobody listens at its broker's port.
    private func readiness(databaseURL: String) async throws -> TestResponse {
        try await withBuiltIngest(["DATABASE_URL": databaseURL]) { _, built, context in
            let application = try makeHTTPApplication(
                router: built.router, configuration: HTTPConfiguration(port: 0), context: context)
            return try await application.test(.router) { try await $0.execute(uri: "/readyz", method: .get) }
        }
    }
}
