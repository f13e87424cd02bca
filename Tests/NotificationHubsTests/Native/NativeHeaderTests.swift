import Domain
import Foundations
import Testing

@testable import NotificationHubs

@Suite struct NativeHeaderTests {
    private func headers(
        _ platform: Platform, _ change: (inout DispatchPlan) -> Void = { _ in }
    ) throws -> [String] {
        let notification = try NativeBodyTests.plan(change).notification(for: platform, now: NativeBodyTests.now)
        return try #require(notification).headers.map { "\($0.name): \($0.value)" }
    }

    @Test func `A plain push has these fields`() throws {
        #expect(try headers(.apple) == ["apns-push-type: background", "apns-priority: 5"])
        #expect(try headers(.apple) { $0.presentation = .alert } == ["apns-push-type: alert", "apns-priority: 10"])
        #expect(try headers(.windows) == ["X-WNS-Type: wns/raw"])
        #expect(try headers(.fcmv1) == [])
        #expect(try headers(.gcm) == [])
    }

    @Test func `The priority is not Apple's`() throws {
        #expect(try headers(.apple) { $0.priority = .high } == ["apns-push-type: background", "apns-priority: 5"])
    }

    @Test func `Expiry and collapse key are in the fields`() throws {
        let change: (inout DispatchPlan) -> Void = {
            $0.expiresAt = NativeBodyTests.now + .seconds(90)
            $0.expiryBoundsPush = true
            $0.collapseKey = "order-42"
        }
        #expect(
            try headers(.apple, change).dropFirst(2) == ["apns-expiration: 1780000090", "apns-collapse-id: order-42"])
        #expect(try headers(.windows, change) == ["X-WNS-Type: wns/raw", "X-WNS-TTL: 90", "X-WNS-Tag: order-42"])
    }

    /// `printf %s KEY | sha256sum`.
    @Test(arguments: [
        ("order-42", "order-42"), ("a b", "a%20b"), ("100%", "100%25"), ("x\r\nHost: evil", "x%0d%0aHost:%20evil"),
        ("é", "%c3%a9"), (String(repeating: "k", count: 64), String(repeating: "k", count: 64)),
        (String(repeating: "é", count: 32), "2e5152e606afb24d5817608407516dfec44866c8ed63edbb537953895bd07aa9"),
    ])
    func `Collapse keys fit headers`(_ key: String, _ value: String) {
        #expect(CollapseKey.headerValue(key) == value)
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("\"\\/", #""\"\\/""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
        ("\u{0}\u{1F}\u{7F}", #""\u0000\u001f\u007f""#), ("é 漢 😀 e\u{301}", "\"é 漢 😀 e\u{301}\""),
        ("\u{2028}", "\"\u{2028}\""), ("\r\n", #""\r\n""#),
    ])
    func `A string is escaped as JSON`(_ text: String, _ json: String) {
        var written = ""
        JSONText.append(text, to: &written)
        #expect(Array(written.utf8) == Array(json.utf8))
    }
}
