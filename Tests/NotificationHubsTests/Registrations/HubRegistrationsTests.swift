import Domain
import Foundations
import Logging
import NIOCore
import TestSupport
import Testing

@testable import NotificationHubs

@Suite(.timeLimit(.minutes(5))) struct HubRegistrationsTests {
    private func withRegistrations<Result: Sendable>(
        _ script: @escaping FakeHub.Script, deadline: TimeAmount = .seconds(60),
        _ body: @escaping @Sendable (HubDevices, FakeHub) async throws -> Result
    ) async throws -> Result {
        try await withFakeHub(script) { hub in
            let registrations = HubDevices(
                configuration: try localHub(port: hub.port), logger: Logger(label: "test"), deadline: deadline)
            return try await withService(registrations) { _ in try await body(registrations, hub) }
        }
    }

    /// Finding 14: the client offered TLS 1.0 and 1.1.
    @Test func `No TLS below 1.2 is offered`() async throws {
        let hello = try await ClientHello.capture { port in
            guard
                let configuration = try? NotificationHubConfiguration(
                    connectionString: "Endpoint=sb://127.0.0.1:\(port);SharedAccessKeyName=n;SharedAccessKey=k",
                    hubName: "hub")
            else { return }
            let registrations = HubDevices(
                configuration: configuration, logger: Logger(label: "test"), deadline: .seconds(5))
            _ = try? await withService(registrations) { _ in try await registrations.createRegistrationID() }
        }
        #expect(hello.versions == [0x0304, 0x0303])
    }

    @Test(arguments: ["Location", "Content-Location"])
    func `A registration ID is created`(_ header: String) async throws {
        let location = "\(header): https://ns/hub/registrationids/1-2-3?api-version=2020-06\r\n"
        try await withRegistrations({ _ in [FakeHub.answer("201 Created", location)] }) { registrations, hub in
            let id = try await registrations.createRegistrationID()
            #expect(id == "1-2-3")
            #expect(hub.requests.first?.headLines.first == "POST /hub/registrationids?api-version=2020-06 HTTP/1.1")
            #expect(hub.requests.first?.header("Authorization")?.hasPrefix("SharedAccessSignature sr=") == true)
        }
    }

    @Test func `A registration is put`() async throws {
        let script: FakeHub.Script = { [FakeHub.answer($0.number == 0 ? "200 OK" : "201 Created", body: "<entry/>")] }
        try await withRegistrations(script) { registrations, hub in
            for _ in 0..<2 {
                try await registrations.putRegistration("1-2-3", platform: .fcmv1, handle: "h&", tags: ["username:a"])
            }
            let request = try #require(hub.requests.first)
            #expect(request.headLines.first == "PUT /hub/registrations/1-2-3?api-version=2020-06 HTTP/1.1")
            #expect(request.header("Content-Type") == "application/atom+xml;type=entry;charset=utf-8")
            #expect(request.header("If-Match") == nil)
            #expect(request.body.contains("<FcmV1RegistrationId>h&amp;</FcmV1RegistrationId>"))
        }
    }

    @Test(arguments: ["", ".", "..", "a/b", "1-2/3", "a%2Fb", "a@b", "\u{0}", "é", String(repeating: "1", count: 129)])
    func `What is no ID reaches no URL`(_ id: String) async throws {
        try await withRegistrations({ _ in [FakeHub.answer("200 OK")] }) { registrations, hub in
            let put = await #expect(throws: PushGatewayError.self) {
                try await registrations.putRegistration(id, platform: .apns, handle: "AB", tags: [])
            }
            let deletion = await #expect(throws: PushGatewayError.self) {
                try await registrations.deleteRegistration(id)
            }
            #expect(put?.code == .rejected && deletion?.code == .rejected)
            #expect(hub.requests.isEmpty)
        }
    }

    @Test func `An ID that is none is not taken from the hub`() async throws {
        let location = "Location: https://ns/hub/registrationids/..?api-version=2020-06\r\n"
        try await withRegistrations({ _ in [FakeHub.answer("201 Created", location)] }) { registrations, _ in
            let error = await #expect(throws: PushGatewayError.self) { try await registrations.createRegistrationID() }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func `All pages are listed`() async throws {
        let tokens = ["MzEobik7Mg%3D%3D", "a+b==", ""]
        let script: FakeHub.Script = { request in
            let token = "X-MS-ContinuationToken: \(tokens[request.number])\r\n"
            let page = "<feed><RegistrationId>\(request.number)</RegistrationId></feed>"
            return [FakeHub.answer("200 OK", tokens[request.number].isEmpty ? "" : token, body: page)]
        }
        try await withRegistrations(script) { registrations, hub in
            let found = try await registrations.registrations(handle: "it's&")
            #expect(found.map(\.id) == ["0", "1", "2"])
            let start = "GET /hub/registrations?api-version=2020-06&$filter=ChannelUri%20eq%20%27it%27%27s%26%27"
            #expect(
                hub.requests.compactMap(\.headLines.first) == [
                    "\(start) HTTP/1.1", "\(start)&continuationtoken=MzEobik7Mg%3D%3D HTTP/1.1",
                    "\(start)&continuationtoken=a%2Bb%3D%3D HTTP/1.1",
                ])
        }
    }

    /// A quote and a combining accent are one character of a string, and still a quote to the hub.
    @Test func `No handle ends the filter`() async throws {
        let script: FakeHub.Script = { _ in [FakeHub.answer("200 OK", body: "<feed></feed>")] }
        try await withRegistrations(script) { registrations, hub in
            _ = try await registrations.registrations(handle: "a'\u{301} or")
            let line = try #require(hub.requests.first?.headLines.first)
            #expect(line.contains("$filter=ChannelUri%20eq%20%27a%27%27%CC%81%20or%27"))
        }
    }

    @Test func `An endless list is given up`() async throws {
        let script: FakeHub.Script = { _ in
            [FakeHub.answer("200 OK", "X-MS-ContinuationToken: again\r\n", body: "<feed></feed>")]
        }
        try await withRegistrations(script) { registrations, _ in
            let error = await #expect(throws: PushGatewayError.self) {
                try await registrations.registrations(handle: "h")
            }
            #expect(error?.code == .unavailable)
        }
    }

    @Test(arguments: ["200 OK", "404 Not Found", "410 Gone"])
    func `A registration is deleted`(_ status: String) async throws {
        try await withRegistrations({ _ in [FakeHub.answer(status)] }) { registrations, hub in
            try await registrations.deleteRegistration("1-2-3")
            let line = hub.requests.first?.headLines.first
            #expect(line == "DELETE /hub/registrations/1-2-3?api-version=2020-06 HTTP/1.1")
            #expect(hub.requests.first?.header("If-Match") == "*")
        }
    }

    @Test(
        arguments: [
            ("410 Gone", "", PushGatewayError.Code.gone, nil), ("401 No", "", .unauthorized, nil),
            ("403 No", "", .unauthorized, nil), ("403 No", "Retry-After: 4\r\n", .throttled, .seconds(4)),
            ("429 No", "Retry-After: 5\r\n", .throttled, .seconds(5)), ("400 No", "", .rejected, nil),
            ("307 Elsewhere", "Location: http://127.0.0.1:1/\r\n", .rejected, nil),
            ("503 No", "Retry-After: 6\r\n", .unavailable, .seconds(6)),
        ] as [(String, String, PushGatewayError.Code, Duration?)])
    func `Each status is the right error`(
        _ status: String, _ headers: String, _ code: PushGatewayError.Code, _ wait: Duration?
    ) async throws {
        try await withRegistrations({ _ in [FakeHub.answer(status, headers)] }) { registrations, _ in
            let error = await #expect(throws: PushGatewayError.self) {
                try await registrations.putRegistration("1", platform: .apns, handle: "AB", tags: [])
            }
            #expect(error?.code == code)
            #expect(error?.retryAfter == wait)
        }
    }

    @Test(arguments: [[], [FakeHub.Step.close], [.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")]])
    func `No whole answer is unavailable in time`(_ steps: [FakeHub.Step]) async throws {
        try await withRegistrations({ _ in steps }, deadline: .milliseconds(200)) { registrations, _ in
            // Without the deadline, the call would last longer than the suite may.
            let error = await #expect(throws: PushGatewayError.self) {
                try await registrations.registrations(handle: "h")
            }
            #expect(error?.code == .unavailable)
        }
    }
}
