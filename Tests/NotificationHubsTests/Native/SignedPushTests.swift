import Domain
import Testing

@testable import NotificationHubs

/// The native forms of signed pushes and of withdrawals, byte for byte.
@Suite struct SignedPushTests {
    private static let id = NativeBodyTests.id
    private static let now = NativeBodyTests.now
    private static let sig = String(repeating: "s", count: 86)
    private static let signature = PushSignature(timestamp: 1_780_000_000, signature: sig)
    private static let data = #""secureId":"\#(id)","ts":"1780000000","sig":"\#(sig)""#

    @Test(arguments: [
        (Platform.apple, #"{"aps":{"content-available":1},\#(data)}"#),
        (.fcmv1, #"{"message":{"data":{\#(data)},"android":{"priority":"high"}}}"#),
        (.gcm, #"{"data":{\#(data)}}"#), (.adm, #"{"data":{\#(data)}}"#), (.browser, "{\(data)}"),
        (.windows, "\(id) 1780000000 \(sig)"),
    ])
    func `A signed push has the time and the signature beside the ID`(_ platform: Platform, _ body: String) throws {
        let plan = try NativeBodyTests.plan()
        let signed = plan.notification(for: platform, now: Self.now, signature: Self.signature)
        let unsigned = plan.notification(for: platform, now: Self.now)
        #expect(signed?.body == body)
        #expect(signed?.headers == unsigned?.headers && signed?.contentType == unsigned?.contentType)
    }

    @Test func `A signed alert has them at the top level`() throws {
        let plan = try NativeBodyTests.plan {
            $0.presentation = .alert
            $0.alert = AlertText(title: "T")
        }
        let signed = plan.notification(for: .apple, now: Self.now, signature: Self.signature)
        #expect(signed?.body == #"{"aps":{"alert":{"title":"T"},"mutable-content":1},\#(Self.data)}"#)
    }

    /// The longest text that ingest accepts leaves no room for a signature.
    @Test func `An alert that the signature makes too long shows the generic text`() throws {
        var alert = AlertText(body: "")
        alert.body = String(repeating: "x", count: AlertText.maxApplePayloadBytes - alert.applePayloadBytes)
        let plan = try NativeBodyTests.plan {
            $0.presentation = .alert
            $0.alert = alert
        }
        #expect(plan.notification(for: .apple, now: Self.now)?.body.utf8.count == AlertText.maxApplePayloadBytes)
        let signed = try #require(plan.notification(for: .apple, now: Self.now, signature: Self.signature))
        #expect(signed.body.contains(#""title":"New message""#) && signed.body.contains(Self.sig))
    }

    private static let withdrawal = #""secureId":"\#(id)","withdraw":"1""#
    private static let stamp = #","ts":"1780000000","sig":"\#(sig)""#

    @Test(arguments: [
        (Platform.apple, #"{"aps":{"content-available":1},\#(withdrawal)"#, "}"),
        (.fcmv1, #"{"message":{"data":{\#(withdrawal)"#, #"},"android":{"priority":"normal"}}}"#),
        (.gcm, #"{"data":{\#(withdrawal)"#, "}}"), (.adm, #"{"data":{\#(withdrawal)"#, "}}"),
        (.browser, "{\(withdrawal)", "}"),
    ])
    func `A withdrawal names the ID and says so`(_ platform: Platform, _ begin: String, _ end: String) throws {
        let plan = try NativeBodyTests.plan()
        func body(_ signature: PushSignature?) -> String? {
            HubNotification.withdrawal(
                of: plan.id, recipient: plan.recipient, for: platform, signature: signature)?.body
        }
        #expect(body(nil) == begin + end)
        #expect(body(Self.signature) == begin + Self.stamp + end)
    }

    @Test func `A withdrawal through WNS is raw text`() throws {
        let plan = try NativeBodyTests.plan()
        let unsigned = try #require(
            HubNotification.withdrawal(of: plan.id, recipient: plan.recipient, for: .windows))
        #expect(unsigned.body == "\(Self.id) withdraw" && unsigned.tag == plan.recipient.tag)
        #expect(unsigned.headers == [HubNotification.Header("X-WNS-Type", "wns/raw")])
        #expect(unsigned.contentType == "application/octet-stream")
        let signed = HubNotification.withdrawal(
            of: plan.id, recipient: plan.recipient, for: .windows, signature: Self.signature)
        #expect(signed?.body == "\(Self.id) withdraw 1780000000 \(Self.sig)")
    }

    @Test func `A withdrawal through APNs is a background push that never collapses`() throws {
        let plan = try NativeBodyTests.plan()
        let notification = HubNotification.withdrawal(of: plan.id, recipient: plan.recipient, for: .apple)
        let headers = [
            HubNotification.Header("apns-push-type", "background"), HubNotification.Header("apns-priority", "5"),
        ]
        #expect(notification?.headers == headers)
    }

    @Test func `An unknown platform has no withdrawal`() throws {
        let plan = try NativeBodyTests.plan()
        let unknown = Platform(rawValue: "pager")
        #expect(HubNotification.withdrawal(of: plan.id, recipient: plan.recipient, for: unknown) == nil)
    }
}
