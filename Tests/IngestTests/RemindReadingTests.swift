import Domain
import Testing

@testable import Ingest

@Suite("Remind")
struct RemindReadingTests {
    private static func read(_ remind: String, more: String = "") throws -> CreateNotificationRequest {
        try CreateNotificationRequestTests.read(#"{"Recipients":["a","b"],"Payload":1,"Remind":\#(remind)\#(more)}"#)
    }

    private static func issues(_ remind: String) -> [String]? {
        CreateNotificationRequestTests.issues(#"{"Recipient":"a","Payload":1,"Remind":\#(remind)}"#)?.keys.sorted()
    }

    @Test func `Every notification of the request has the reminders`() throws {
        let request = try Self.read(#"["30s", "1m", "1.5h", "365d", "30000ms"]"#)
        let expected: [Duration] = [.seconds(30), .seconds(60), .seconds(5400), .seconds(365 * 86_400), .seconds(30)]
        #expect(request.remind == expected)
        let notifications = request.notifications(
            sender: "clinic", retention: .seconds(60), now: CreateNotificationRequestTests.now, traceparent: nil)
        #expect(notifications.map(\.remind) == [expected, expected])
    }

    @Test func `Without the member there are no reminders`() throws {
        #expect(try Self.read("null").remind.isEmpty)
        #expect(try CreateNotificationRequestTests.read(#"{"Recipient":"a","Payload":1}"#).remind.isEmpty)
    }

    @Test func `Steps after the expiry are no mistake`() throws {
        let request = try Self.read(#"["1d"]"#, more: #","ExpiresAt":"2027-01-15T09:00:00Z""#)
        #expect(request.remind == [.seconds(86_400)])
    }

    @Test(arguments: [
        ("[]", "/Remind"), (#"["1m","1m","1m","1m","1m","1m"]"#, "/Remind"), (#""1m""#, "/Remind"), ("60", "/Remind"),
        (#"{"1m":1}"#, "/Remind"), (#"["29s"]"#, "/Remind/0"), (#"["1m","29999ms"]"#, "/Remind/1"),
        (#"["366d"]"#, "/Remind/0"), (#"["0s"]"#, "/Remind/0"), (#"["-1m"]"#, "/Remind/0"), (#"["1M"]"#, "/Remind/0"),
        (#"["60"]"#, "/Remind/0"), ("[60]", "/Remind/0"), ("[null]", "/Remind/0"), (#"[""]"#, "/Remind/0"),
        (#"["99999999999999999999d"]"#, "/Remind/0"), (#"["1m "]"#, "/Remind/0"), (#"["PT1M"]"#, "/Remind/0"),
    ])
    func `Impossible values are named`(_ remind: String, _ pointer: String) {
        #expect(Self.issues(remind) == [pointer])
    }
}
