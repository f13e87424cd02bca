import Foundation
import Testing

@testable import SecurePushClient

/// What a proxy or a captive portal answers says nothing of the server.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
    private let device = PushDevice(deviceToken: Data([0x0A, 0xFF]))

    /// An answer with a name.
    struct Answer: Sendable, CustomTestStringConvertible {
        let name: String
        let response: TransportResponse

        var testDescription: String { name }

        init(_ name: String, _ response: TransportResponse) {
            (self.name, self.response) = (name, response)
        }

        init(_ name: String, _ status: Int, _ headers: [String: String] = [:], _ body: String = "") {
            self.init(name, TransportResponse(status: status, headers: headers, body: Data(body.utf8)))
        }
    }

    private static let json = ["Content-Type": "application/json"]

    /// Answers to a refresh that say nothing of the session.
    static let strangers = [
        Answer("400 text/html", .ofProxy(400)),
        Answer("400 with another error", 400, json, #"{"error":"invalid_request"}"#),
        Answer("400 without a body", 400),
        Answer("400 with half a JSON", 400, json, #"{"error":"invalid_grant""#),
        Answer("400 text/html that says invalid_grant", .ofProxy(400, #"{"error":"invalid_grant"}"#)),
        Answer("401 text/html", .ofProxy(401)),
        Answer("401 text/html with a challenge", 401, ["Content-Type": "text/html", "WWW-Authenticate": "Bearer"]),
        Answer("401 without a challenge", 401),
        Answer("401 for the proxy", 401, ["WWW-Authenticate": "Basic realm=\"proxy\""]),
        Answer("401 of a gateway", 401, json, #"{"message":"Unauthorized"}"#),
        Answer(
            "401 of a gateway with a challenge", 401, json.merging(["WWW-Authenticate": "Bearer"]) { $1 },
            #"{"message":"Unauthorized"}"#),
        Answer("403 text/html", .ofProxy(403)), Answer("404 text/plain", 404, ["Content-Type": "text/plain"]),
        Answer("407", 407), Answer("502 text/html", .ofProxy(502)), Answer("511 text/html", .ofProxy(511)),
        Answer("a redirect", 302), Answer("200 text/html", .ofProxy(200)), Answer("200 without a body", 200),
        Answer("200 without the members", 200, json, #"{"ok":true}"#),
        Answer("200 text/html with the members", .ofProxy(200, #"{"access_token":"stolen"}"#)), Answer("204", 204),
    ]

    @Test(arguments: strangers) func anAnswerToTheRefreshThatIsNotTheServersKeepsTheSession(
        _ answer: Answer
    ) async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        phone.server.add("01")
        phone.clock.jump(by: 7_200)
        let token = try await phone.store.credentials()?.refreshToken
        phone.server.fail("POST token", .response(answer.response), times: 20)
        #expect(await phone.push("01").code == .credentials)
        #expect(await phone.screen.prompt == nil)
        #expect(try await phone.store.credentials()?.refreshToken == token && token != nil)
        phone.server.change { $0.faults = [] }
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["01"])
    }

    @Test(arguments: [
        Answer("401 as problem+json", 401, ["Content-Type": "application/problem+json; charset=utf-8"], "{}"),
        Answer("401 with challenges", 401, ["WWW-Authenticate": "Basic realm=\"x\", Bearer error=\"invalid_token\""]),
        Answer("400 invalid_grant", 400, json, #"{"error":"invalid_grant"}"#),
    ]) func theServersOwnAnswerEndsTheSession(_ answer: Answer) async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        phone.server.add("01")
        phone.clock.jump(by: 7_200)
        phone.server.fail("POST token", .response(answer.response))
        #expect(await phone.push("01").code?.asksForLogIn == true)
        #expect(try await phone.store.credentials() == StoredCredentials(userName: "alice"))
    }

    @Test(arguments: [
        Answer("200 text/html", .ofProxy(200)), Answer("200 text/html without a body", .ofProxy(200, "")),
        Answer("200 of another JSON", 200, json, #"{"status":"blocked"}"#), Answer("202", 202),
    ]) func thePageOfACaptivePortalIsNoSuccessAtAnyRoute(_ page: Answer) async throws {
        let phone = try await SimulatedPhone { $0.encryptsEndToEnd = true }
        let client = phone.client
        func fails(_ prefix: String, _ work: () async throws -> Void) async {
            phone.server.fail(prefix, .response(page.response), times: 20)
            let failure = await #expect(throws: SecurePushFailure.self) { try await work() }
            #expect(failure?.code == .malformedAnswer)
            phone.server.change { $0.faults = [] }
        }
        await fails("PUT installations") { try await client.register(device) }
        #expect(phone.server.change { $0.installations.isEmpty })
        await fails("PUT devices") { try await client.register(device) }
        #expect(phone.server.change { $0.keys.isEmpty })
        try await client.register(device)
        phone.server.add("01")
        phone.server.fail("GET notifications/01", .response(page.response), times: 20)
        #expect(await phone.push("01").code == .malformedAnswer)
        phone.server.change { $0.faults = [] }
        phone.server.fail("POST notifications/01", .response(page.response), times: 20)
        #expect(await client.catchUp().shown.map(\.rawValue) == ["01"])
        #expect(phone.server.change { $0.shown } == [])
        phone.server.change { $0.faults = [] }
        _ = await client.catchUp()
        #expect(phone.server.change { $0.shown } == ["01"])
        let id = try #require(PushID("01"))
        await fails("POST notifications/read") { try await client.markAsRead([id]) }
        await fails("POST notifications/read") { try await client.markAsRead(through: id) }
        phone.server.fail("DELETE installations", .response(page.response), times: 20)
        #expect(try await !client.unregister())
        #expect(phone.server.change { $0.installations.count } == 1)
    }

    @Test func noContentIsNoSuccessOfARouteWithAnotherStatus() async throws {
        let phone = try await SimulatedPhone()
        phone.server.fail("PUT installations", .response(TransportResponse(status: 204)))
        await #expect(throws: SecurePushFailure(code: .malformedAnswer)) { try await phone.client.register(device) }
    }

    @Test(arguments: [302, 429, 511]) func aReportThatAPortalAnswersIsSentAgain(_ status: Int) async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.fail("POST notifications/01/shown", .response(.ofProxy(status)), times: 20)
        #expect(await phone.push("01").shown.map(\.rawValue) == ["01"])
        #expect(phone.server.change { $0.shown } == [])
        phone.server.change { $0.faults = [] }
        _ = await phone.client.catchUp()
        #expect(phone.server.change { $0.shown } == ["01"])
    }

    @Test(arguments: [401, 403, 404, 410], ["text/html", "application/json"])
    func aRefusalOfAProxyEndsNothing(_ status: Int, of type: String) async throws {
        let headers = ["Content-Type": type, "WWW-Authenticate": "Bearer"]
        let answer = Answer(type, status, headers, #"{"message":"no Route matched"}"#).response
        let phone = try await SimulatedPhone()
        let first = try await phone.client.register(device)
        phone.server.add("01")
        phone.server.fail("GET notifications/01", .response(answer), times: 20)
        #expect(await phone.push("01").code == .malformedAnswer)
        #expect(await phone.client.waiting().map(\.rawValue) == ["01"])
        #expect(await phone.screen.prompt == nil)
        phone.server.change { $0.faults = [] }
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["01"])
        phone.clock.jump(by: 8 * 86_400)
        phone.server.fail("PUT installations", .response(answer), times: 20)
        await #expect(throws: SecurePushFailure(code: .malformedAnswer)) { try await phone.client.register(device) }
        phone.server.change { $0.faults = [] }
        #expect(try await phone.client.register(device) == first)
        phone.server.fail("POST token", .response(answer))
        await #expect(throws: SecurePushFailure.self) {
            try await phone.credentials.logIn(userName: "alice", password: "secret")
        }
        #expect(try await phone.store.credentials()?.password == nil)
    }
}
