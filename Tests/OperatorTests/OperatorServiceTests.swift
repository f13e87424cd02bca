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

@testable import Operator

@Suite("The operator's page in the composed service")
struct AdminServiceTests {
    @Test func `With a port the page has a listener of its own`() async throws {
        try await withBuiltIngest(["ADMIN_PORT": "8083"]) { configuration, built, _ in
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
                let headers: HTTPFields = [.authorization: OperatorBench.credentials]
                let page = try await client.execute(uri: "/", method: .get, headers: headers)
                #expect(page.status == .ok && page.text.contains("<bdi>broker</bdi> cannot be reached"))
            }
        }
    }

    @Test func `Without a port there is no page`() async throws {
        try await withBuiltIngest([:]) { configuration, built, _ in
            #expect(built.admin == nil && configuration.startDetails["operator_page"] == nil)
        }
    }
}
