import Testing

@testable import SecurePushCLI

@Suite struct ServerSentEventsTests {
    private typealias Event = ServerSentEvents.Event

    @Test(arguments: [
        ("data: a\n\n", [ServerSentEvents.Event(name: "message", data: "a")]),
        ("event: notification\ndata: {\"a\":1}\n\n", [.init(name: "notification", data: "{\"a\":1}")]),
        ("data:a\r\ndata: b\r\n\r\n", [.init(name: "message", data: "a\nb")]),
        ("data: a\r\rdata: b\r\r", [.init(name: "message", data: "a"), .init(name: "message", data: "b")]),
        (": comment\n\nretry: 5\nid: 7\n\n", []),
        ("event: x\n\ndata: y\n\n", [.init(name: "message", data: "y")]),
        ("data: a: b\n\n", [.init(name: "message", data: "a: b")]),
        ("data\n\n", [.init(name: "message", data: "")]),
        ("data: é\n\n", [.init(name: "message", data: "é")]),
        ("data: unfinished\n", []),
    ])
    func `Events, whole and byte by byte`(text: String, events: [ServerSentEvents.Event]) {
        var whole = ServerSentEvents()
        #expect(whole.feed(text.utf8) == events)
        var pieces = ServerSentEvents()
        #expect(text.utf8.flatMap { pieces.feed([$0]) } == events)
    }
}
