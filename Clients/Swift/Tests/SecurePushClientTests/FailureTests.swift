import Foundation
import Testing

@testable import SecurePushClient

@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    @Test(arguments: [400, 403, 404, 410, 422, 302, 307])
    func finalAnswersAreNotRepeatedAndShowTheGenericText(_ status: Int) async throws {
        let phone = try await SimulatedPhone()
        let response = TransportResponse(status: status, headers: ["Location": "https://evil.example"])
        phone.server.fail("GET notifications/01", .response(response), times: 5)
        let report = await phone.push("01")
        #expect(report.code == .status(status) && report.result == .failed)
        #expect(
            phone.requests.filter { $0.hasPrefix("GET notifications/01") }.count == 1
                || ![403, 404, 410].contains(status))
        #expect(await phone.screen.noticed.map(\.code) == [.status(status)])
        #expect(await phone.screen.notices["01"]?.localizationKey == "securepush.generic")
        #expect(phone.server.requests.allSatisfy { $0.contains(" /base/api/") })
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func whatCanHealIsRepeated(_ status: Int) async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.fail("GET notifications/01", .response(TransportResponse(status: status)), times: 3)
        #expect(await phone.push("01").shown.count == 1)
        #expect(phone.clock.uptime == 6)
    }

    @Test func aWakeEndsInTimeWhenNothingAnswers() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.fail("", .hang, times: 50)
        let report = await phone.push("01")
        #expect(report.code == .timedOut)
        #expect(phone.clock.uptime <= 25)
        #expect(phone.requests.count == 3)
        #expect(await phone.screen.noticed.map(\.code) == [.timedOut])
    }

    @Test func aWakeEndsInTimeWhenTheCredentialsTakeLong() async throws {
        let phone = try await SimulatedPhone()
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: SimulatedPhone.url),
            credentials: SlowCredentials(clock: phone.clock), store: phone.store, transport: phone.server,
            clock: phone.clock, presenter: phone.screen)
        phone.server.fail("", .hang, times: 50)
        #expect(await client.handle(push: IncomingPush(data: ["secureId": "01"])).code == .timedOut)
        #expect(phone.clock.uptime <= 25)
    }

    @Test func aWaitThatDoesNotFitIsNotBegun() async throws {
        let phone = try await SimulatedPhone()
        let busy = TransportResponse(status: 429, headers: ["Retry-After": "60"])
        phone.server.fail("GET notifications/01", .response(busy))
        #expect(await phone.push("01").code == .status(429))
        #expect(phone.clock.uptime < 5)
    }

    @Test func aRetryAfterThatFitsIsKept() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        let busy = TransportResponse(status: 429, headers: ["Retry-After": "10"])
        phone.server.fail("GET notifications/01", .response(busy))
        #expect(await phone.push("01").shown.count == 1)
        #expect(phone.clock.uptime == 10)
    }

    /// RFC 9110, 10.2.3. The clock shows Fri, 15 Jan 2027 08:00:00 GMT.
    @Test(arguments: [
        ("Fri, 15 Jan 2027 08:00:10 GMT", 10), ("Fri, 15 Jan 2027 08:00:00 GMT", 1),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 1), ("Friday, 15-Jan-27 08:00:10 GMT", 10),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 1), ("Fri Jan 15 08:00:10 2027", 10), ("Sun Nov  6 08:49:37 1994", 1),
        // These are no such dates. The client waits as long as without the header.
        ("Fri, 15 Jan 2027 08:00:10 CET", 1), ("Fri, 15 jan 2027 08:00:10 GMT", 1), ("15 Jan 2027 08:00:10 GMT", 1),
        ("Fri, 35 Jan 2027 08:00:10 GMT", 1), ("Fri, 15 Jan 2027 24:00:10 GMT", 1), ("Fri, 15 Jan 2027 08:0:10 GMT", 1),
        ("Fri, 15 Jan +027 08:00:10 GMT", 1), ("Mon, 29 Feb 2027 08:00:10 GMT", 1), ("-10", 1), ("", 1),
        ("Fri, 15-Jan-27 08:00:10 GMT", 1), ("Friday, 15-Jan-2027 08:00:10 GMT", 1), ("Friday, 15-Jan-27 08:00:10", 1),
        ("Fri Jan 35 08:00:10 2027", 1), ("Friday Jan 15 08:00:10 27", 1),
    ])
    func aRetryAfterDateThatFitsIsKept(_ date: String, _ seconds: TimeInterval) async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        let busy = TransportResponse(status: 503, headers: ["Retry-After": date])
        phone.server.fail("GET notifications/01", .response(busy))
        #expect(await phone.push("01").shown.count == 1)
        #expect(phone.clock.uptime == seconds)
    }

    @Test(arguments: [
        "Fri, 15 Jan 2027 08:01:00 GMT", "Friday, 15-Jan-27 08:01:00 GMT", "Fri Jan 15 08:01:00 2027",
        "Fri, 31 Dec 9999 23:59:60 GMT",
    ])
    func aRetryAfterDateThatDoesNotFitEndsTheTries(_ date: String) async throws {
        let phone = try await SimulatedPhone()
        let busy = TransportResponse(status: 429, headers: ["Retry-After": date])
        phone.server.fail("GET notifications/01", .response(busy))
        #expect(await phone.push("01").code == .status(429))
        #expect(phone.clock.uptime == 0)
    }

    @Test(arguments: [(TransportError.untrusted, "SP-TLS"), (.tooLarge, "SP-SIZE"), (.unreachable, "SP-OFFLINE")])
    func failuresOfTheTransportHaveTheirCodes(_ error: TransportError, _ code: String) async throws {
        let phone = try await SimulatedPhone()
        phone.server.fail("GET notifications/01", .error(error), times: 50)
        #expect(await phone.push("01").code?.rawValue == code)
        #expect(await phone.screen.notices["01"]?.code?.rawValue == code)
    }

    @Test(arguments: [
        ("", "SP-JSON"), ("{", "SP-JSON"), ("null", "SP-JSON"), ("{\"Id\":\"01\"}", "SP-JSON"),
        ("{\"Id\":1,\"Payload\":\"x\"}", "SP-JSON"), ("{\"Id\":\"02\",\"Payload\":\"x\"}", "SP-ID"),
        ("{\"Id\":\"01\",\"Payload\":\"x\"}}", "SP-JSON"), ("{\"Id\":\"01\",\"Payload\":nul}", "SP-JSON"),
        ("{\"Id\":\"01\",\"Id\":\"01\",\"Payload\":\"x\"}", "SP-JSON"), ("<html>", "SP-JSON"),
    ])
    func wrongAnswersShowTheGenericText(_ body: String, _ code: String) async throws {
        let phone = try await SimulatedPhone()
        phone.server.fail(
            "GET notifications/01", .response(TransportResponse(status: 200, body: Data(body.utf8))))
        #expect(await phone.push("01").code?.rawValue == code)
        #expect(await phone.screen.secrets.isEmpty)
    }

    @Test func anAnswerThatIsTooLongIsRefused() async throws {
        let phone = try await SimulatedPhone()
        let body = Data("{\"Id\":\"01\",\"Payload\":\"\(String(repeating: "x", count: 10 << 20))\"}".utf8)
        phone.server.fail("GET notifications/01", .response(TransportResponse(status: 200, body: body)))
        #expect(await phone.push("01").code == .tooLarge)
    }

    @Test func theGenericTextGivesWayToTheSecret() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.fail("GET notifications/01", .error(.unreachable), times: 50)
        _ = await phone.push("01")
        #expect(await phone.client.waiting().map(\.rawValue) == ["01"])
        // A second push for it fetches again and shows no second generic text.
        #expect(await phone.push("01").code == .unreachable)
        #expect(await phone.screen.noticed.count == 1)
        phone.server.change { $0.faults = [] }
        #expect(await phone.client.catchUp().shown.count == 1)
        #expect(await phone.screen.notices.isEmpty)
    }

    @Test func aGoneNotificationCanBeSilent() async throws {
        let phone = try await SimulatedPhone { $0.showsNoticeWhenGone = false }
        #expect(await phone.push("01").code == .status(404))
        #expect(await phone.screen.noticed.isEmpty)
    }

    /// The wake does not depend on a transport that notices its cancellation.
    @Test func aTransportThatNeverReturnsIsLeftBehind() async throws {
        let clock = SimulatedClock()
        let result = await #expect(throws: TransportError.timedOut) {
            try await TimeLimit.run(until: 8, on: clock) {
                clock.advance(by: 9)
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
        #expect(result == .timedOut)
    }
}

/// Credentials that take most of a wake.
private struct SlowCredentials: CredentialsProvider {
    let clock: SimulatedClock

    func userName() async -> String? { "alice" }

    func credentials() async throws -> ClientCredentials? {
        try await clock.sleep(for: 20)
        return .bearer("token-1")
    }

    func refresh(after refused: ClientCredentials) async throws -> ClientCredentials? { nil }
}
