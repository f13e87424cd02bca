import Domain
import Foundations
import Testing

@testable import NotificationHubs

@Suite struct ClassificationTests {
    static let now = Timestamp(milliseconds: 1_780_000_000_000)

    @Test(arguments: [200, 201, 202, 203, 204, 206, 226, 299])
    func `Every success is sent`(_ status: Int) {
        #expect(HubResponse(status: status, messageID: "m").outcome(now: Self.now) == .sent(hubMessageID: "m"))
        #expect(HubResponse(status: status).outcome(now: Self.now) == .sent(hubMessageID: nil))
    }

    @Test(
        arguments: [
            ("Success", "Success"), ("Unknown=1, Success=2", "Success=2, Unknown=1"),
            ("NoTargetFound", "NoTargetFound"), ("Success=0", nil), ("Success=1, Success=2", nil), ("", nil),
            ("<b>", nil), ("Success=2147483648", nil), ("Success=1=2", nil),
        ] as [(String, String?)])
    func `The hub's outcome at once is read, or left out`(_ header: String, _ text: String?) throws {
        let answer = HubResponse(status: 201, messageID: "m", deviceOutcome: header).outcome(now: Self.now)
        guard case .sent(let id, let outcome) = answer else {
            Issue.record("It was sent.")
            return
        }
        #expect(id == "m" && outcome?.text == text)
    }

    @Test(
        arguments: [
            (400, "The host is not allowed.TrackingId:1_G0,TimeStamp:1/2/2026", "The host is not allowed"),
            (413, "", ""), (400, "Bad & wrong", "Bad & wrong"), (404, "No service is hosted here", nil),
            (500, "x", nil),
        ] as [(Int, String, String?)])
    func `The hub's words about a request that it refuses are told`(_ status: Int, _ text: String, _ words: String?) {
        let detail = text.replacing("&", with: "&amp;")
        let answer = HubResponse(status: status, body: Array("<Error><Detail>\(detail)</Detail></Error>".utf8))
        #expect(answer.error(now: Self.now)?.refusal == words)
    }

    @Test(arguments: [(401, "5"), (401, nil), (403, nil)] as [(Int, String?)])
    func `401 is unauthorized, and 403 without Retry-After`(_ status: Int, _ retryAfter: String?) {
        let outcome = HubResponse(status: status, retryAfter: retryAfter).outcome(now: Self.now)
        #expect(outcome == .unauthorized(reason: "HTTP \(status)"))
    }

    @Test(
        arguments: [
            (403, "5", Duration.seconds(5)), (403, "soon", nil), (429, nil, nil), (429, "0", .zero),
            (429, "Fri, 29 May 2026 20:41:00 GMT", .seconds(1260)),
        ] as [(Int, String?, Duration?)])
    func `429 is throttled, and 403 with Retry-After`(_ status: Int, _ retryAfter: String?, _ wait: Duration?) {
        let now = Timestamp(milliseconds: 1_780_086_000_000)
        let outcome = HubResponse(status: status, retryAfter: retryAfter).outcome(now: now)
        #expect(outcome == .throttled(retryAfter: wait))
    }

    @Test(arguments: [400, 405, 410, 411, 413, 415, 300, 301, 302, 304, 307, 308])
    func `400 and its like are rejected`(_ status: Int) {
        #expect(
            HubResponse(status: status).outcome(now: Self.now) == .rejected(reason: "HTTP \(status)", status: status))
    }

    /// There is no hub at the address: nothing is wrong with the notification. To anything but a send it is an answer.
    @Test func `404 means that there is no hub, and to anything but a send a refusal`() {
        let answer = HubResponse(status: 404)
        #expect(answer.outcome(now: Self.now) == .hubNotFound(reason: "HTTP 404"))
        #expect(answer.error(now: Self.now)?.code == .rejected)
    }

    @Test(arguments: [500, 503, 599, 199, 409, 412, 418, 999])
    func `Every other status is unavailable`(_ status: Int) {
        let outcome = HubResponse(status: status, retryAfter: "7").outcome(now: Self.now)
        #expect(outcome == .unavailable(reason: "HTTP \(status)", retryAfter: .seconds(7)))
        #expect(!outcome.meaning.mayHaveBeenAccepted)
    }

    @Test(arguments: [408, 502, 504])
    func `A gateway may answer for a hub that has accepted it`(_ status: Int) {
        let answer = HubResponse(status: status, retryAfter: "7")
        let outcome = answer.outcome(now: Self.now)
        #expect(outcome == .unavailable(reason: "HTTP \(status)", retryAfter: .seconds(7), isAmbiguous: true))
        #expect(outcome.meaning.mayHaveBeenAccepted)
        #expect(answer.error(now: Self.now)?.code == .unavailable)
    }

    @Test(arguments: [
        (
            "<Error><Code>400</Code><Detail>Bad &amp; wrong.TrackingId:1</Detail></Error>",
            "HTTP 400: Bad & wrong.TrackingId:1"
        ),
        ("<Error><Code>400</Code><Detail>cut of", "HTTP 400: cut of"), ("<html>secret page</html>", "HTTP 400"),
        ("<Detail></Detail>", "HTTP 400"),
        ("<Detail>token SharedAccessSignature sr=x&amp;sig=y</Detail>", "HTTP 400: token …"),
        ("<Detail>a\u{1}\r\nb</Detail>", "HTTP 400: ab"), ("", "HTTP 400"),
    ])
    func `The reason is read from the body`(_ body: String, _ reason: String) {
        #expect(HubResponse(status: 400, body: Array(body.utf8)).reason == reason)
    }

    @Test func `Reasons are short`() {
        let body = Array("<Detail>\(String(repeating: "x", count: 900))</Detail>".utf8)
        #expect(HubResponse(status: 400, body: body).reason.count == 300 + "HTTP 400: ".count)
    }

    @Test(
        arguments: [
            ("120", Duration.seconds(120)), ("0", .zero), ("99999999999999999999", .seconds(86_400)),
            ("Fri, 29 May 2026 20:41:00 GMT", .seconds(460)), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("", nil),
            ("-1", nil), ("1.5", nil), ("+5", nil), ("tomorrow", nil), ("Fri, 29 May 2026 20:41:00 CET", nil),
            ("Fri, 31 Feb 2026 20:41:00 GMT", nil), ("Friday, 29-May-26 20:41:00 GMT", .seconds(460)),
            ("Fri May 29 20:41:00 2026", .seconds(460)),
        ] as [(String, Duration?)])
    func `Retry-After is read in all forms`(_ text: String, _ wait: Duration?) {
        let now = Timestamp(milliseconds: 1_780_086_800_000)
        #expect(Duration(retryAfter: text, now: now) == wait)
    }

    @Test(
        arguments: [
            ("https://ns.servicebus.windows.net/hub/messages/7362-2018-33-18?api-version=2020-06", "7362-2018-33-18"),
            ("/hub/messages/ID", "ID"), ("ID", "ID"), ("https://ns/hub/messages/?api-version=2020-06", nil), ("", nil),
            ("/a/b c", nil), ("/a?x=/y/z", "a"),
        ] as [(String, String?)])
    func `The message ID is read from the location`(_ location: String, _ id: String?) {
        #expect(HubMessageID.inLocation(Array(location.utf8)) == id)
    }
}
