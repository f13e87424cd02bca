import HTTPTypes
import Testing

@testable import Hub

/// The push services' rules have nothing against the forms that SecurePush sends, signed or not.
@Suite struct PushFormTests {
    private static let id = "0190a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"
    private static let signature = #""ts":"1763800000","sig":"\#(String(repeating: "A", count: 86))""#
    private static let background = ["apns-push-type": "background", "apns-priority": "5"]
    private static let alert = ["apns-push-type": "alert", "apns-priority": "10"]
    private static let raw = ["x-wns-type": "wns/raw", "content-type": "application/octet-stream"]

    /// A format, its headers, and a body.
    struct Form: Sendable, CustomTestStringConvertible {
        let format: NotificationFormat
        let headers: [String: String]
        let body: String

        var testDescription: String { "\(format.rawValue) \(body)" }
    }

    /// The members beside the ID: none, a signature, a withdrawal, a signed withdrawal.
    private static let additions = ["", "," + signature, #","withdraw":"1""#, #","withdraw":"1","# + signature]

    private static var objects: [Form] {
        additions.flatMap { addition in
            let members = #""secureId":"\#(id)"\#(addition)"#
            return [
                Form(
                    format: .apple, headers: background,
                    body: #"{"aps":{"content-available":1},\#(members)}"#),
                Form(
                    format: .fcmv1, headers: [:],
                    body: #"{"message":{"data":{\#(members)},"android":{"priority":"high"}}}"#),
                Form(format: .gcm, headers: [:], body: #"{"data":{\#(members)}}"#),
                Form(format: .adm, headers: [:], body: #"{"data":{\#(members)}}"#),
                Form(format: .browser, headers: [:], body: "{\(members)}"),
            ]
        }
    }

    private static var others: [Form] {
        let signed = "1763800000 " + String(repeating: "A", count: 86)
        return ["\(id)", "\(id) \(signed)", "\(id) withdraw", "\(id) withdraw \(signed)"].map {
            Form(format: .windows, headers: raw, body: $0)
        } + [
            Form(
                format: .apple, headers: alert,
                body: #"{"aps":{"alert":{"body":"New"},"mutable-content":1},"secureId":"\#(id)",\#(signature)}"#)
        ]
    }

    @Test(arguments: objects + others) func `Is accepted without a warning`(_ form: Form) {
        let warnings = PlatformRules.warnings(format: form.format, headers: form.headers, body: Array(form.body.utf8))
        #expect(warnings == [])
    }

    @Test func `A withdrawal of normal priority is named`() {
        let body = Array(#"{"aps":{"content-available":1},"secureId":"7","withdraw":"1"}"#.utf8)
        #expect(!PlatformRules.warnings(format: .apple, headers: Self.alert, body: body).isEmpty)
        let data = Array(#"{"message":{"data":{"secureId":"7","withdraw":1}}}"#.utf8)
        #expect(PlatformRules.warnings(format: .fcmv1, headers: [:], body: data).contains { $0.contains("strings") })
    }
}
