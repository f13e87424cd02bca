import APITestSupport
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

@Suite("The composed service")
struct OperatorServiceTests {
    @Test func `Its parts work together without a broker`() async throws {
        try await withTemporaryFolderURL { folder in
            let password = folder.appending(path: "password")
            try Data("\(OperatorBench.password)\n".utf8).write(to: password)
            var reader = ConfigurationReader(environment: [
                "DATABASE_URL": "memory:", "AMQP_URL": "amqp://guest:guest@127.0.0.1:1/%2F",
                "ADMIN_PASSWORD_FILE": password.path,
            ])
            let configuration = try #require(OperatorConfiguration(&reader))
            #expect(configuration.startDetails["address"] == "http://127.0.0.1:8083")
            let context = ServiceContext(name: "operator", logger: .silent, metrics: PrometheusMetrics())
            let built = try await buildOperator(configuration, context: context)
            let application = try makeHTTPApplication(
                router: built.router, configuration: HTTPConfiguration(port: 0), context: context)
            try await application.test(.live) { client in
                let ready = try await client.execute(uri: "/readyz", method: .get)
                let checks = try ready.object()["checks"] as? [String: String]
                #expect(ready.status == .ok && checks == ["database": "up", "amqp": "down", "files": "up"])
                let refused = try await client.execute(uri: "/admin/api/overview", method: .get)
                #expect(refused.status == .unauthorized)
                let headers: HTTPFields = [.authorization: OperatorBench.credentials]
                let overview = try await client.execute(uri: "/admin/api/overview", method: .get, headers: headers)
                #expect(overview.status == .ok && overview.text.contains("The broker cannot be reached"))
            }
        }
    }
}
