import Domain
import Foundations
import Testing

@testable import NotificationHubs

/// The contract's table of native notifications, byte for byte.
@Suite struct NativeBodyTests {
    static let id = "01234567-89ab-7def-8123-456789abcdef"
    static let json = "application/json;charset=utf-8"

    static func plan(_ change: (inout DispatchPlan) -> Void = { _ in }) throws -> DispatchPlan {
        var plan = DispatchPlan(
            id: try #require(NotificationID(id)), recipient: try #require(UserName("Alice")),
            expiresAt: Timestamp(milliseconds: 2_000_000_000_000))
        change(&plan)
        return plan
    }

    static let now = Timestamp(milliseconds: 1_780_000_000_000)

    @Test(arguments: [
        AlertText(), .generic, AlertText(title: "\"quoted\" \\"), AlertText(body: "\u{1F511} caf\u{E9}"),
        AlertText(title: "", body: ""), AlertText(title: "a\u{7F}b\n", body: String(repeating: "\"", count: 1024)),
    ])
    func `The length of an alert is the one that is checked`(_ alert: AlertText) throws {
        let plan = try Self.plan {
            $0.presentation = .alert
            $0.alert = alert
        }
        let notification = try #require(plan.notification(for: .apple, now: Self.now))
        #expect(notification.body.utf8.count == alert.applePayloadBytes)
    }

    @Test(arguments: [
        (Platform.apple, json, #"{"aps":{"content-available":1},"secureId":"\#(id)"}"#),
        (.fcmv1, json, #"{"message":{"data":{"secureId":"\#(id)"},"android":{"priority":"high"}}}"#),
        (.gcm, json, #"{"data":{"secureId":"\#(id)"}}"#),
        (.windows, "application/octet-stream", id),
        (.adm, json, #"{"data":{"secureId":"\#(id)"}}"#),
        (.browser, json, #"{"secureId":"\#(id)"}"#),
    ])
    func `A silent push has the form of its platform`(_ platform: Platform, _ contentType: String, _ body: String)
        throws
    {
        let notification = try #require(try Self.plan().notification(for: platform, now: Self.now))
        #expect(notification.body == body)
        #expect(notification.contentType == contentType)
        #expect(notification.platform == platform)
        #expect(notification.tag == "username:#41lice")
    }

    @Test(arguments: [
        (
            Platform.apple,
            #"{"aps":{"alert":{"title":"New message","body":"Open the app to read it."},"mutable-content":1},"#
                + #""secureId":"\#(id)"}"#
        ),
        (.fcmv1, #"{"message":{"data":{"secureId":"\#(id)"},"android":{"priority":"high"}}}"#),
        (.gcm, #"{"data":{"secureId":"\#(id)"}}"#),
        (.windows, id),
    ])
    func `An alert has the form of its platform`(_ platform: Platform, _ body: String) throws {
        let plan = try Self.plan { $0.presentation = .alert }
        #expect(plan.notification(for: platform, now: Self.now)?.body == body)
    }

    @Test(arguments: [
        (AlertText(title: "T", body: "B"), #"{"title":"T","body":"B"}"#),
        (AlertText(title: "T"), #"{"title":"T"}"#), (AlertText(body: "B"), #"{"body":"B"}"#),
        (AlertText(), #"{"title":"New message","body":"Open the app to read it."}"#),
        (AlertText(title: "", body: "a\"b\\c\nd"), #"{"title":"","body":"a\"b\\c\nd"}"#),
    ])
    func alertTexts(_ text: AlertText, _ alert: String) throws {
        let plan = try Self.plan {
            $0.presentation = .alert
            $0.alert = text
        }
        let body = #"{"aps":{"alert":\#(alert),"mutable-content":1},"secureId":"\#(Self.id)"}"#
        #expect(plan.notification(for: .apple, now: Self.now)?.body == body)
    }

    @Test func `A silent push shows no text`() throws {
        let plan = try Self.plan { $0.alert = AlertText(title: "T") }
        #expect(plan.notification(for: .apple, now: Self.now)?.body.contains("T\"") == false)
    }

    @Test func `Other platforms have no native form`() throws {
        #expect(try Self.plan().notification(for: Platform(rawValue: "nokiax"), now: Self.now) == nil)
        for platform in Platform.known {
            #expect(try Self.plan().notification(for: platform, now: Self.now) != nil)
        }
    }

    @Test func `Firebase gets its options`() throws {
        let plan = try Self.plan {
            $0.priority = .normal
            $0.collapseKey = "say \"hi\" é"
            $0.expiresAt = Self.now + .milliseconds(90_999)
            $0.expiryBoundsPush = true
        }
        let android = #"{"priority":"normal","collapse_key":"say \"hi\" é","ttl":"90s"}"#
        let body = #"{"message":{"data":{"secureId":"\#(Self.id)"},"android":\#(android)}}"#
        #expect(plan.notification(for: .fcmv1, now: Self.now)?.body == body)
    }

    @Test(arguments: [(100, "100s"), (2_419_201, "2419200s"), (-5, "0s")] as [(Int64, String)])
    func `Firebase keeps at most 28 days`(_ seconds: Int64, _ ttl: String) throws {
        let plan = try Self.plan {
            $0.expiresAt = Self.now + .seconds(seconds)
            $0.expiryBoundsPush = true
        }
        #expect(plan.notification(for: .fcmv1, now: Self.now)?.body.contains("\"ttl\":\"\(ttl)\"") == true)
    }
}
