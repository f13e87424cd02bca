import Testing

@testable import SecurePushCLI

@Suite struct InboxPageTests {
    private func page(_ text: String) throws -> Wire.InboxPage {
        var page = try JSONCoding.decode(Wire.InboxPage.self, from: text)
        page.addPayloads(of: text)
        return page
    }

    private func lines(_ page: Wire.InboxPage, withPayloads: Bool = true) -> [String] {
        var table = Table(InboxCommand.columns(withPayloads: withPayloads))
        return table.lines(page.notifications)
    }

    private static func entry(_ id: String, _ more: String = "") -> String {
        #"{"Id":"\#(id)","CreatedAt":"2026-11-22T08:30:00.000Z","Read":false\#(more)}"#
    }

    @Test func `Payloads are shown as they were sent`() throws {
        let payloads = [#""hello""#, #"{"b":1.10, "a":[true]}"#, "null", "1e400"]
        let entries = payloads.enumerated().map { Self.entry("id-\($0.offset)", #","Payload":\#($0.element)"#) }
        let page = try page(#"{"Notifications":[\#(entries.joined(separator: ","))],"Unread":4,"Next":"id-3"}"#)
        #expect(page.notifications.map(\.payload) == ["hello", #"{"b":1.10, "a":[true]}"#, "null", "1e400"])
        #expect(page.unread == 4 && page.next == "id-3")
        let all = lines(page)
        #expect(all.count == 5 && all[0].hasSuffix("PAYLOAD") && all[1].hasSuffix("hello"))
        #expect(!lines(page, withPayloads: false).joined().contains("hello"))
    }

    @Test func `An entry without a payload says why, and shifts no other`() throws {
        let entries = [Self.entry("a"), Self.entry("b", #","Payload":"x""#)].joined(separator: ",")
        let page = try page(#"{"Notifications":[\#(entries)],"Unread":2}"#)
        #expect(page.notifications.map(\.payload) == [nil, "x"])
        #expect(lines(page)[1].hasSuffix("(the service cannot open it)"))
    }

    @Test func `A payload cannot write to the terminal`() throws {
        let page = try page(#"{"Notifications":[\#(Self.entry("a", #","Payload":"\u001b[2J\nx""#))],"Unread":1}"#)
        let line = lines(page)[1]
        #expect(!line.contains("\u{1B}") && !line.contains("\n") && line.contains("x"))
    }
}
