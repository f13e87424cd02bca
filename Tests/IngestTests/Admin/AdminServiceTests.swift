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

@Suite("The operator's page in the composed service")
struct AdminServiceTests {
    /// Builds ingest as its executable does, while nobody listens at its broker's port.
    private func withBuilt(
        _ settings: [String: String], _ body: (IngestConfiguration, BuiltIngest) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            _ = try Credentials(folder: folder)
            let (keys, password) = (folder.appending(path: "payload-keys"), folder.appending(path: "password"))
            try Data(PayloadKeyRing.newLine().utf8).write(to: keys)
            try Data("\(AdminBench.password)\n".utf8).write(to: password)
            let own = [
                "DATABASE_URL": "memory:", "AMQP_URL": "amqp://guest:guest@127.0.0.1:1/%2F",
                "PAYLOAD_KEYS_FILE": keys.path, "INGEST_API_KEYS_FILE": folder.appending(path: "api-keys").path,
                "ADMIN_PASSWORD_FILE": password.path,
            ]
            var reader = ConfigurationReader(environment: own.merging(settings) { $1 })
            let read = IngestConfiguration(&reader)
            let configuration = try #require(read, "\(reader.issues)")
            let context = ServiceContext(name: "ingest", logger: .silent, metrics: PrometheusMetrics())
            try await body(configuration, try await buildIngest(configuration, context: context))
        }
    }

    @Test func `With a port the page has a listener of its own`() async throws {
        try await withBuilt(["ADMIN_PORT": "8083"]) { configuration, built in
            #expect(configuration.startDetails["operator_page"] == "http://127.0.0.1:8083")
            let admin = try #require(built.admin)
            #expect(admin.sources.count == 1)
            // The API of senders is not on the operator's port, nor the page on theirs.
            let paths = admin.router.routes.map { "\($0.path)" }
            #expect(paths.contains("/admin/api/overview") && !paths.contains("/api/notifications"))
            #expect(!built.router.routes.contains { "\($0.path)".hasPrefix("/admin") })
            let application = try makeHTTPApplication(
                router: admin.router, configuration: HTTPConfiguration(port: 0), context: admin.context)
            try await application.test(.live) { client in
                let refused = try await client.execute(uri: "/", method: .get)
                #expect(refused.status == .unauthorized)
                let headers: HTTPFields = [.authorization: AdminBench.credentials]
                let page = try await client.execute(uri: "/", method: .get, headers: headers)
                #expect(page.status == .ok && page.text.contains("<bdi>broker</bdi> cannot be reached"))
            }
        }
    }

    @Test func `Without a port there is no page`() async throws {
        try await withBuilt([:]) { configuration, built in
            #expect(built.admin == nil && configuration.startDetails["operator_page"] == nil)
        }
    }
}
