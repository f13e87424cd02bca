import Domain
import Logging
import NIOCore
import TestSupport
import Testing

@testable import NotificationHubs

/// Each way an answer can go, then an ordinary one: the outcome, and whether the connection served both.
@Suite struct HubSenderAnswerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var steps: [FakeHub.Step]
        var isExpected: @Sendable (SendOutcome) -> Bool
        var connections: Int
        var testDescription: String { name }
    }

    private static let detail = "<Error><Code>400</Code><Detail>Too big</Detail></Error>"

    static let cases: [Case] = [
        Case(
            name: "403", steps: [FakeHub.answer("403 Forbidden")],
            isExpected: { $0 == .unauthorized(reason: "HTTP 403") }, connections: 1),
        Case(
            name: "403 with Retry-After", steps: [FakeHub.answer("403 Forbidden", "Retry-After: 3\r\n")],
            isExpected: { $0 == .throttled(retryAfter: .seconds(3)) }, connections: 1),
        Case(
            name: "400 with detail", steps: [FakeHub.answer("400 Bad Request", body: detail)],
            isExpected: { $0 == .rejected(reason: "HTTP 400: Too big", status: 400) }, connections: 1),
        Case(
            name: "redirect", steps: [FakeHub.answer("307 Elsewhere", "Location: http://127.0.0.1:1/\r\n")],
            isExpected: { $0 == .rejected(reason: "HTTP 307", status: 307) }, connections: 1),
        Case(
            name: "chunked",
            steps: [.write("HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")],
            isExpected: { $0 == .sent(hubMessageID: nil) }, connections: 1),
        Case(
            name: "100-continue",
            steps: [.write("HTTP/1.1 100 Continue\r\n\r\n"), .wait(.milliseconds(5)), FakeHub.created("M")],
            isExpected: { $0 == .sent(hubMessageID: "M") }, connections: 1),
        Case(
            name: "slow body",
            steps: [
                .write("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-"), .wait(.milliseconds(5)),
                .write("Length: 4\r\n\r\nab"), .wait(.milliseconds(5)), .write("cd"),
            ],
            isExpected: { $0 == .unavailable(reason: "HTTP 503", retryAfter: .seconds(1)) }, connections: 1),
        Case(
            name: "close after the answer", steps: [FakeHub.created("M"), .close],
            isExpected: { $0 == .sent(hubMessageID: "M") }, connections: 2),
        Case(
            name: "Connection: close", steps: [FakeHub.answer("201 Created", "Connection: close\r\n")],
            isExpected: { $0 == .sent(hubMessageID: nil) }, connections: 2),
        Case(
            name: "reset after the answer", steps: [FakeHub.created("M"), .wait(.milliseconds(1)), .reset],
            isExpected: { $0 == .sent(hubMessageID: "M") }, connections: 2),
        Case(
            name: "body until close", steps: [.write("HTTP/1.1 500 No\r\n\r\n<Detail>x</Detail>"), .close],
            isExpected: { $0 == .unavailable(reason: "HTTP 500: x", retryAfter: nil) }, connections: 2),
        Case(name: "close before an answer", steps: [.close], isExpected: \.isUnanswered, connections: 2),
        Case(name: "reset before an answer", steps: [.reset], isExpected: \.isUnanswered, connections: 2),
        Case(
            name: "close within the answer", steps: [.write("HTTP/1.1 201 Created\r\nContent-Le"), .close],
            isExpected: \.isUnanswered, connections: 2),
        Case(name: "garbage", steps: [.write("220 mail ESMTP\r\n\r\n")], isExpected: \.isUnanswered, connections: 2),
        Case(
            name: "two answers for one", steps: [FakeHub.created("M"), FakeHub.created("N")],
            isExpected: { $0 == .sent(hubMessageID: "M") }, connections: 2),
    ]

    @Test func `A success with an unexpected status is one push and one line`() async throws {
        let statuses = ["202 Accepted", "203 Other", "204 No Content", "200 OK", "201 Created"]
        let script: FakeHub.Script = { request in
            let status = statuses[request.number % statuses.count]
            return [status.hasPrefix("204") ? .write("HTTP/1.1 204\r\n\r\n") : FakeHub.answer(status)]
        }
        let lines = LogLines()
        try await withFakeHub(script) { hub in
            let sender = HubSender(
                configuration: try localHub(port: hub.port), concurrency: 1,
                logger: Logger(label: "test") { _ in lines })
            try await withService(sender) { _ in
                for _ in statuses { #expect(await sender.send(.sample) == .sent(hubMessageID: nil)) }
            }
            #expect(hub.requests.count == statuses.count)
        }
        let odd = lines.all.filter { $0.contains("unexpected status") }
        #expect(odd == ["warning The hub has accepted a push with an unexpected status status=202"])
    }

    @Test(arguments: cases)
    func `Each answer has its outcome`(_ answer: Case) async throws {
        let script: FakeHub.Script = { $0.number == 0 ? answer.steps : [FakeHub.created("next")] }
        try await withFakeHub(script) { hub in
            try await withHubSender(hub, concurrency: 1) { sender, _ in
                let outcome = await sender.send(.sample)
                #expect(answer.isExpected(outcome), "\(outcome)")
                // A connection that is just being closed may still take one more: that one has no answer.
                var next = await sender.send(.sample)
                if answer.connections == 2, !next.isSent { next = await sender.send(.sample) }
                #expect(next == .sent(hubMessageID: "next"), "\(next)")
            }
            #expect(hub.connections == answer.connections)
        }
    }
}
