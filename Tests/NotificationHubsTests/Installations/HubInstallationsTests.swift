import Domain
import Logging
import NIOCore
import Testing

@testable import NotificationHubs

@Suite struct HubInstallationsTests {
    private func withInstallations<Result: Sendable>(
        _ script: @escaping FakeHub.Script, deadline: TimeAmount = .seconds(60),
        _ body: @escaping @Sendable (HubDevices, FakeHub) async throws -> Result
    ) async throws -> Result {
        try await withFakeHub(script) { hub in
            let installations = HubDevices(
                configuration: try localHub(port: hub.port), logger: Logger(label: "test"), deadline: deadline)
            return try await withService(installations) { _ in try await body(installations, hub) }
        }
    }

    @Test func `A document is put as it is`() async throws {
        let location = "Content-Location: https://ns/hub/installations/a?api-version=2020-06\r\n"
        try await withInstallations({ _ in [FakeHub.answer("200 OK", location)] }) { installations, hub in
            try await installations.putInstallation("a.b-C_1", document: Array(#"{"tags":["ü"]}"#.utf8))
            let request = try #require(hub.requests.first)
            #expect(
                request.headLines.first == "PUT /hub/installations/a.b-C_1?api-version=2020-06 HTTP/1.1")
            #expect(request.header("Content-Type") == "application/json")
            #expect(request.header("Authorization")?.hasPrefix("SharedAccessSignature sr=") == true)
            #expect(request.body == #"{"tags":["ü"]}"#)
        }
    }

    @Test(arguments: ["204 No Content", "200 OK", "404 Not Found", "410 Gone"])
    func `An installation is deleted`(_ status: String) async throws {
        let answer = status.hasPrefix("204") ? FakeHub.Step.write("HTTP/1.1 204 No Content\r\n\r\n") : nil
        try await withInstallations({ _ in [answer ?? FakeHub.answer(status)] }) { installations, hub in
            try await installations.deleteInstallation("a")
            let line = hub.requests.first?.headLines.first
            #expect(line == "DELETE /hub/installations/a?api-version=2020-06 HTTP/1.1")
        }
    }

    @Test(
        arguments: [
            ("401 No", "", PushGatewayError.Code.unauthorized, nil), ("403 No", "", .unauthorized, nil),
            ("403 No", "Retry-After: 4\r\n", .throttled, .seconds(4)),
            ("429 No", "Retry-After: 5\r\n", .throttled, .seconds(5)), ("400 No", "", .rejected, nil),
            ("404 No", "", .rejected, nil), ("413 No", "", .rejected, nil), ("500 No", "", .unavailable, nil),
            ("503 No", "Retry-After: 6\r\n", .unavailable, .seconds(6)),
        ] as [(String, String, PushGatewayError.Code, Duration?)])
    func `Each status is the right error`(
        _ status: String, _ headers: String, _ code: PushGatewayError.Code, _ wait: Duration?
    ) async throws {
        try await withInstallations({ _ in [FakeHub.answer(status, headers)] }) { installations, _ in
            let error = await #expect(throws: PushGatewayError.self) {
                try await installations.putInstallation("a", document: [])
            }
            #expect(error?.code == code)
            #expect(error?.retryAfter == wait)
        }
    }

    @Test(arguments: [
        "", ".", "..", "...", "a/b", "../x", "a%2Fb", "a?b", "a#b", "a b", "\u{0}", "é", "a\u{FFFF}",
        String(repeating: "a", count: 129),
    ])
    func `What is no ID reaches no URL`(_ id: String) async throws {
        try await withInstallations({ _ in [FakeHub.answer("200 OK")] }) { installations, hub in
            let put = await #expect(throws: PushGatewayError.self) {
                try await installations.putInstallation(id, document: [])
            }
            #expect(put?.code == .rejected)
            // `#` was allowed once; its encoding is no step and no fragment.
            if id != "a#b" {
                let deletion = await #expect(throws: PushGatewayError.self) {
                    try await installations.deleteInstallation(id)
                }
                #expect(deletion?.code == .rejected)
            }
            #expect(hub.requests.isEmpty)
        }
    }

    @Test(arguments: [[], [FakeHub.Step.close]])
    func `No answer is unavailable`(_ steps: [FakeHub.Step]) async throws {
        try await withInstallations({ _ in steps }, deadline: .milliseconds(200)) { installations, _ in
            let error = await #expect(throws: PushGatewayError.self) {
                try await installations.deleteInstallation("a")
            }
            #expect(error?.code == .unavailable)
        }
    }
}
