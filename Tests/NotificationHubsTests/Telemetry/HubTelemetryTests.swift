import Domain
import Logging
import NIOCore
import Testing

@testable import NotificationHubs

/// `GET /HUB/messages/ID`, and how its document is read.
@Suite struct HubTelemetryTests {
    /// A document in the hub's form.
    private static func document(
        _ counts: String =
            "<ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>1</Count></Outcome></ApnsOutcomeCounts>",
        state: String = "Completed", body: String = "{&quot;secureId&quot;:1}"
    ) -> String {
        "<NotificationDetails xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\" "
            + "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"><NotificationId>m</NotificationId>"
            + "<Location>sb://ns/hub/messages/m</Location><State>\(state)</State>"
            + "<EnqueueTime>2015-11-02T21:19:43Z</EnqueueTime><NotificationBody>\(body)</NotificationBody>"
            + "<Tags>username:alice</Tags><TargetPlatforms>apple</TargetPlatforms>\(counts)</NotificationDetails>"
    }

    private static func counts(_ outcomes: [(String, String)], _ element: String = "ApnsOutcomeCounts") -> String {
        "<\(element)>"
            + outcomes.map { "<Outcome><Name>\($0)</Name><Count>\($1)</Count></Outcome>" }.joined() + "</\(element)>"
    }

    private static func text(_ document: String) -> String? { NotificationDetails(document)?.outcome?.text }

    @Test func `One device is its word`() {
        #expect(Self.text(Self.document()) == "Success")
        #expect(Self.text(Self.document(Self.counts([("BadChannel", "1")], "WnsOutcomeCounts"))) == "BadChannel")
    }

    @Test func `Several devices are counted`() {
        let counts = Self.counts([("BadChannel", "1"), ("Success", "2"), ("Dropped", "12")])
        #expect(Self.text(Self.document(counts)) == "Success=2, BadChannel=1, Dropped=12")
        #expect(Self.text(Self.document(Self.counts([("Success", "3")]))) == "Success=3")
        let twice = Self.counts([("Success", "1")]) + Self.counts([("Success", "1")], "FcmV1OutcomeCounts")
        #expect(Self.text(Self.document(twice)) == "Success=2")
    }

    @Test(
        arguments: [
            ("NoTargetFound", "NoTargetFound"), ("Abandoned", "Abandoned"), ("Cancelled", "Cancelled"),
            ("Completed", "Completed"), ("Enqueued", nil), ("Processing", nil), ("Scheduled", nil), ("Unknown", nil),
            ("", nil), ("<b>Completed</b>", nil), ("Com pleted", nil),
        ] as [(String, String?)])
    func `Without a device the state counts`(_ state: String, _ outcome: String?) {
        #expect(Self.text(Self.document("", state: state)) == outcome)
    }

    @Test func `While the hub works on it there is no outcome`() {
        #expect(Self.text(Self.document(state: "Processing")) == nil)
    }

    /// The document repeats the push, with the texts of its sender.
    @Test(arguments: [
        "&lt;State&gt;Enqueued&lt;/State&gt;",
        "<![CDATA[<State>Enqueued</State><Outcome><Name>Evil</Name>"
            + "<Count>7</Count></Outcome></NotificationBody>]]>",
        "<Outcome><Name>Evil</Name><Count>1</Count></Outcome>",
    ])
    func `The body is not read`(_ body: String) {
        #expect(Self.text(Self.document(body: body)) == "Success")
    }

    @Test func `What cannot be read is left out`() {
        let odd = [
            ("", "1"), ("A b", "1"), (String(repeating: "x", count: 65), "1"), ("é", "1"), ("&bad;", "1"),
            ("None", "0"), ("Less", "-3"), ("Text", "one"), ("Huge", "99999999999999999999999"), ("Success", "1"),
        ]
        #expect(Self.text(Self.document(Self.counts(odd))) == "Success")
        for text in [
            "", "<", "<NotificationDetails/>", "not XML", "<State>Completed", Self.document("<Outcome><Name>"),
        ] {
            #expect(Self.text(text) == nil || Self.text(text) == "Completed")
        }
        #expect(NotificationDetails("<State>Completed</State>")?.outcome == MessageOutcome(state: "Completed"))
    }

    @Test func `Numbers and lengths are bounded`() {
        let large = Self.counts([("Success", "9223372036854775807"), ("Success", "9223372036854775807")])
        #expect(Self.text(Self.document(large)) == "Success=2147483647")
        let many = Self.counts((0..<2000).map { ("Name\($0)", "1") })
        let outcome = NotificationDetails(Self.document(many))?.outcome
        #expect(outcome?.counts.count == 32)
        let length = outcome?.text.utf8.count ?? 0
        #expect(length > 100 && length <= MessageOutcome.maxText)
        #expect(outcome?.text.hasSuffix("=1") == true)
    }

    /// Runs with a hub that gives these answers, one after another; the last one again and again.
    private func withHub(
        _ answers: [FakeHub.Step], _ body: @escaping @Sendable (HubDevices, FakeHub) async throws -> Void
    ) async throws {
        try await withFakeHub({ request in [answers[min(request.number, answers.count - 1)]] }) { hub in
            let devices = HubDevices(
                configuration: try localHub(port: hub.port), logger: Logger(label: "test"), deadline: .seconds(60))
            try await withService(devices) { _ in try await body(devices, hub) }
        }
    }

    private static let alice = UserName("alice")!

    @Test func `The hub is asked about the message`() async throws {
        try await withHub([FakeHub.answer("200 OK", body: Self.document())]) { devices, hub in
            let outcome = try await devices.outcome(ofMessage: "7362-2018 1/18?", to: Self.alice)
            #expect(outcome?.text == "Success" && outcome?.counts == [.init(name: "Success", devices: 1)])
            let request = try #require(hub.requests.first)
            let line = "GET /hub/messages/7362-2018%201%2F18%3F?api-version=2020-06 HTTP/1.1"
            #expect(request.headLines.first.map(String.init) == line)
            #expect(request.header("Authorization")?.hasPrefix("SharedAccessSignature sr=") == true)
        }
    }

    @Test(arguments: ["404 Not Found", "410 Gone", "400 Bad Request", "200 OK"])
    func `A message that is not known has no outcome`(_ status: String) async throws {
        try await withHub([FakeHub.answer(status)]) { devices, hub in
            let known = try await devices.outcome(ofMessage: "m", to: Self.alice)
            let elsewhere = try await devices.outcome(ofMessage: "..", to: Self.alice)
            #expect(known == nil && elsewhere == nil && hub.requests.count == 1)
        }
    }

    /// Without the Standard tier the hub answers 403.
    @Test(
        arguments: [
            ("403 No", "", .unauthorized, nil), ("405 No", "", .rejected, nil), ("500 No", "", .unavailable, nil),
            ("429 No", "Retry-After: 5\r\n", .throttled, .seconds(5)),
            ("403 No", "Retry-After: 4\r\n", .throttled, .seconds(4)),
        ] as [(String, String, PushGatewayError.Code, Duration?)])
    func `The hub's refusal`(
        _ status: String, _ headers: String, _ code: PushGatewayError.Code, _ wait: Duration?
    ) async throws {
        try await withHub([FakeHub.answer(status, headers)]) { devices, _ in
            let error = await #expect(throws: PushGatewayError.self) {
                try await devices.outcome(ofMessage: "m", to: Self.alice)
            }
            #expect(error?.code == code && error?.retryAfter == wait)
        }
    }

    @Test func `A refused token is renewed once`() async throws {
        let answers = [FakeHub.answer("401 No"), FakeHub.answer("200 OK", body: Self.document())]
        try await withHub(answers) { devices, hub in
            let outcome = try await devices.outcome(ofMessage: "m", to: Self.alice)
            #expect(outcome?.text == "Success" && hub.requests.count == 2)
        }
        try await withHub([FakeHub.answer("401 No")]) { devices, hub in
            let error = await #expect(throws: PushGatewayError.self) {
                try await devices.outcome(ofMessage: "m", to: Self.alice)
            }
            #expect(error?.code == .unauthorized && hub.requests.count == 2)
        }
    }

    @Test func `A document is not read without end`() async throws {
        let long = Self.document(body: String(repeating: "x", count: DeviceResponse.maxBody))
        try await withHub([FakeHub.answer("200 OK", body: long)]) { devices, _ in
            let error = await #expect(throws: PushGatewayError.self) {
                try await devices.outcome(ofMessage: "m", to: Self.alice)
            }
            #expect(error?.code == .unavailable)
        }
    }
}
