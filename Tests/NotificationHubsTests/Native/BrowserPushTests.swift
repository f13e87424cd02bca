import Domain
import Foundations
import Testing

@testable import NotificationHubs

/// Pushes to browsers: the fields of RFC 8030, and declarative messages.
@Suite struct BrowserPushTests {
    private static let id = NativeBodyTests.id
    private static let now = NativeBodyTests.now
    private static let page = "https://app.example.org/inbox"
    private static let signature = PushSignature(
        timestamp: 1_780_000_000, signature: String(repeating: "s", count: 86))

    private func headers(_ change: (inout DispatchPlan) -> Void = { _ in }) throws -> [String] {
        let notification = try NativeBodyTests.plan(change).notification(for: .browser, now: Self.now)
        return try #require(notification).headers.map { "\($0.name): \($0.value)" }
    }

    @Test func `Every push has a time to live and an urgency`() throws {
        #expect(try headers() == ["TTL: 2419200", "Urgency: normal"])
        #expect(try headers { $0.presentation = .alert } == ["TTL: 2419200", "Urgency: high"])
        #expect(try headers { $0.priority = .high } == ["TTL: 2419200", "Urgency: high"])
        #expect(try headers { $0.priority = .normal } == ["TTL: 2419200", "Urgency: normal"])
    }

    @Test(arguments: [(90_999, 90), (0, 1), (-5_000, 1), (2_419_201_000, 2_419_200)] as [(Int64, Int64)])
    func `The expiry is the time to live`(_ milliseconds: Int64, _ seconds: Int64) throws {
        let found = try headers {
            $0.expiresAt = Self.now + .milliseconds(milliseconds)
            $0.expiryBoundsPush = true
        }
        #expect(found.first == "TTL: \(seconds)")
    }

    /// `printf %s KEY | sha256sum`, the first 24 bytes.
    @Test func `The topic is 32 characters of a hash`() throws {
        let found = try headers { $0.collapseKey = "order-42" }
        #expect(found.last == "Topic: O_ixV8Qjju_lrkpm7Kgca4h9Tc7bWN1n")
        #expect(CollapseKey.topic(String(repeating: "é", count: 32)).utf8.count == 32)
    }

    private func body(
        signature: PushSignature? = nil, page: String? = page, _ change: (inout DispatchPlan) -> Void = { _ in }
    ) throws -> String {
        let plan = try NativeBodyTests.plan(change)
        let data = PushData(plan, signature: signature, browserPage: page)
        let push =
            plan.work == .withdrawal
            ? HubNotification.withdrawal(for: .browser, data) : plan.notification(for: .browser, now: Self.now, data)
        return try #require(push).body
    }

    private func message(_ title: String, _ text: String, members: String = #""secureId":"\#(id)""#) -> String {
        #"{"web_push":8030,"notification":{"title":"\#(title)","body":"\#(text)","navigate":"\#(Self.page)","#
            + #""tag":"\#(Self.id)","data":{\#(members)}},"mutable":true,\#(members)}"#
    }

    @Test func `With a page a push is a declarative message with the generic text`() throws {
        #expect(try body() == message("New message", "Open the app to read it."))
        #expect(try body(page: nil) == #"{"secureId":"\#(Self.id)"}"#)
        let signed = #""secureId":"\#(Self.id)","ts":"1780000000","sig":"\#(Self.signature.signature)""#
        #expect(
            try body(signature: Self.signature) == message("New message", "Open the app to read it.", members: signed))
    }

    @Test(arguments: [
        (AlertText(title: "T", body: "B"), "T", "B"), (AlertText(body: "B"), "New message", "B"),
        (AlertText(title: "T"), "T", ""), (AlertText(title: "", body: "B"), "New message", "B"),
        (AlertText(), "New message", "Open the app to read it."), (AlertText(title: "a\"b"), #"a\"b"#, ""),
    ])
    func `An alert has the sender's generic text, and always a title`(
        _ alert: AlertText, _ title: String, _ text: String
    ) throws {
        let found = try body {
            $0.presentation = .alert
            $0.alert = alert
        }
        #expect(found == message(title, text))
    }

    @Test func `A silent push has no text of the sender`() throws {
        #expect(try body { $0.alert = AlertText(title: "T") } == message("New message", "Open the app to read it."))
    }

    @Test func `A withdrawal has the same tag and says so`() throws {
        let members = #""secureId":"\#(Self.id)","withdraw":"1""#
        let found = try body { $0.work = .withdrawal }
        #expect(
            found == message("Message withdrawn", "This message was withdrawn.", members: members))
        #expect(try body(page: nil) { $0.work = .withdrawal } == "{\(members)}")
        let plan = try NativeBodyTests.plan()
        let push = HubNotification.withdrawal(of: plan.id, recipient: plan.recipient, for: .browser)
        #expect(push?.headers == [])
    }

    /// A record of Web Push has room for 3,993 bytes.
    @Test func `An alert that is too long shows the usual text`() throws {
        func found(_ count: Int) throws -> String {
            try body(signature: Self.signature) {
                $0.presentation = .alert
                $0.alert = AlertText(title: "T", body: String(repeating: "x", count: count))
            }
        }
        let frame = try found(0).utf8.count
        #expect(try found(3_993 - frame).utf8.count == 3_993)
        #expect(try found(3_994 - frame).contains(#""title":"New message""#))
    }

    /// Every push has at most 512 bytes; a declarative one also its page, its text and the values a second time.
    @Test func `The frame of a declarative message is small`() throws {
        for work in [DispatchWork.push, .withdrawal] {
            let found = try body(signature: Self.signature) { $0.work = work }
            #expect(found.utf8.count <= 640, "\(found.utf8.count)")
        }
    }
}
