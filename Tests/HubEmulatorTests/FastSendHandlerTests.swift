import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HubEmulator

/// Which requests are answered on the loop, and what the routes get of all others.
@Suite struct FastSendHandlerTests {
    private static let route = ["POST /hub/messages?api-version=2020-06", "10", "end"]

    @Test(arguments: [1, 7, 64, 10_000]) func aPlainSendIsAnsweredInWhateverPieces(_ size: Int) throws {
        let connection = try FastChannel()
        let bytes = Array(RawSend().text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            #expect(try connection.written().isEmpty)
            try connection.receive(String(decoding: bytes[start..<min(start + size, bytes.count)], as: UTF8.self))
        }
        let answer = try connection.written().joined()
        #expect(answer.hasPrefix("HTTP/1.1 201 Created\r\nContent-Type: application/xml; charset=utf-8\r\nLocation: "))
        #expect(answer.hasSuffix(" GMT\r\n\r\n"))
        #expect(connection.forwarded.isEmpty)
        let records = connection.state.log.records(after: nil, limit: nil)
        #expect(records.map(\.body) == [Array(#"{"aps":{}}"#.utf8)])
        #expect(records.first?.headers["authorization"] == nil && records.first?.headers["host"] == nil)
    }

    @Test func severalInOneReadAreAnsweredInOneWriteAndInOrder() throws {
        let connection = try FastChannel()
        try connection.receive((1...5).map { RawSend(headers: ["TrackingId: track-\($0)"]).text }.joined())
        let writes = try connection.written()
        #expect(writes.count == 1)
        let order = writes.joined().split(separator: "TrackingId: ").dropFirst().map { $0.prefix(7) }
        #expect(order == ["track-1", "track-2", "track-3", "track-4", "track-5"])
    }

    @Test func aSendBehindAnUnansweredRequestKeepsItsPlace() throws {
        let connection = try FastChannel()
        try connection.receive("GET /livez HTTP/1.1\r\nHost: h\r\n\r\n" + RawSend().text)
        #expect(connection.forwarded == ["GET /livez", "end"] + Self.route)
        #expect(try connection.written().isEmpty)
        try connection.answer()
        try connection.receive(RawSend().text)
        #expect(connection.forwarded.count == 8)
        try connection.answer()
        try connection.answer()
        #expect(try connection.written().joined().contains("200 OK"))
        try connection.receive(RawSend().text)
        #expect(connection.forwarded.count == 8)
        #expect(try connection.written().joined().hasPrefix("HTTP/1.1 201 Created"))
    }

    @Test func answersAreOutBeforeTheRoutesGetTheNextRequest() throws {
        let connection = try FastChannel()
        try connection.receive(RawSend().text + "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try connection.written().count == 1)
        #expect(connection.forwarded == ["GET /livez", "end"])
    }

    /// Each of them for the routes, whole and unchanged, and nothing recorded.
    static let ordinary: [(String, RawSend)] = [
        ("another method", RawSend(method: "PUT")), ("HTTP/1.0", RawSend(version: "HTTP/1.0")),
        ("a wrong signature", RawSend(authorization: TestToken.make(key: "other"))),
        ("an unknown format", RawSend(format: "iphone")), ("no format", RawSend(format: nil)),
        ("a template", RawSend(format: "template")), ("a bad expression", RawSend(tags: "a &&")),
        ("direct", RawSend(target: "/hub/messages?direct&api-version=2020-06")),
        ("debug", RawSend(target: "/hub/messages?api-version=2020-06&test")),
        ("an escape in the path", RawSend(target: "/h%75b/messages")),
        ("a batch", RawSend(target: "/hub/messages/$batch")), ("no hub", RawSend(target: "//messages")),
        ("a path that is no hub's", RawSend(target: "/Emulator/messages")),
        ("the last of the connection", RawSend(headers: ["Connection: close"])),
        ("an upgrade", RawSend(headers: ["Connection: Upgrade", "Upgrade: h2c"])),
        ("an expectation", RawSend(headers: ["Expect: 100-continue"])),
        ("a repeated field", RawSend(headers: ["TrackingId: a", "trackingid: b"])),
        ("two tokens", RawSend(headers: ["Authorization: Bearer x"])),
        ("a byte beyond ASCII", RawSend(headers: ["X-Apns-Expiration: \u{FFFD}"])),
    ]

    @Test(arguments: ordinary.indices) func theRoutesGet(_ index: Int) throws {
        let (name, send) = Self.ordinary[index]
        let connection = try FastChannel()
        try connection.receive(send.text)
        #expect(connection.forwarded == ["\(send.method) \(send.target)", "10", "end"], "\(name)")
        #expect(try connection.written().isEmpty)
        #expect(connection.state.log.records(after: nil, limit: nil).isEmpty)
    }

    @Test func chunkedAndLargeBodiesAreForTheRoutes() throws {
        let chunked = try FastChannel()
        try chunked.receive(
            RawSend(body: "2\r\n{}\r\n0\r\n\r\n", framing: "Transfer-Encoding: chunked").text)
        #expect(chunked.forwarded.count == 3)
        let large = try FastChannel()
        try large.receive(RawSend(framing: "Content-Length: 65537").text)
        #expect(large.forwarded.first == "POST /hub/messages?api-version=2020-06")
    }

    @Test func faultsAreForTheRoutesUntilTheyAreOver() throws {
        let connection = try FastChannel()
        connection.state.faults.add(try Fault(ByteBuffer(string: #"{"Status":503,"Platform":"gcm"}"#)))
        try connection.receive(RawSend().text)
        #expect(connection.forwarded == Self.route)
        try connection.answer()
        connection.state.faults.removeAll()
        try connection.receive(RawSend().text)
        #expect(connection.forwarded.count == 3)
    }

    @Test func aFaultInTheMiddleOfARequestIsNotMissed() throws {
        let connection = try FastChannel()
        try connection.receive(String(RawSend().text.dropLast(4)))
        connection.state.faults.add(try Fault(ByteBuffer(string: #"{"Status":503}"#)))
        try connection.receive(String(RawSend().text.suffix(4)))
        #expect(connection.forwarded == Self.route)
    }

    @Test func whatHappensInTheMiddleOfARequestIsForTheRoutes() throws {
        let draining = try FastChannel()
        try draining.receive(String(RawSend().text.dropLast(4)))
        draining.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(draining.forwarded == [Self.route[0], "6", "quiesce"])
        try draining.receive(String(RawSend().text.suffix(4)))
        #expect(draining.forwarded == [Self.route[0], "6", "quiesce", "4", "end"])

        let cut = try FastChannel()
        try cut.receive(String(RawSend().text.dropLast(4)))
        cut.channel.pipeline.fireChannelInactive()
        #expect(cut.forwarded.prefix(2) == [Self.route[0], "6"])
        #expect(cut.forwarded.last == "inactive")
    }

    @Test func nothingIsAnsweredAfterTheLastRequest() throws {
        let connection = try FastChannel()
        try connection.receive(RawSend(headers: ["Connection: close"]).text)
        try connection.answer()
        _ = try connection.written()
        // The decoder may refuse it by itself.
        try? connection.receive(RawSend().text)
        #expect(try connection.written().isEmpty)
        #expect(connection.state.log.records(after: nil, limit: nil).isEmpty)
    }

    @Test func answersBeforeGarbageAreGiven() throws {
        let connection = try FastChannel()
        #expect(throws: HTTPParserError.self) { try connection.receive(RawSend().text + "\u{1}garbage\r\n\r\n") }
        #expect(try connection.written().joined().hasPrefix("HTTP/1.1 201 Created"))
    }

    @Test func aClientThatDoesNotReadIsNotRead() throws {
        let connection = try FastChannel()
        connection.channel.isWritable = false
        let before = connection.readCount
        connection.channel.read()
        #expect(connection.readCount == before)
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(connection.readCount > before)
    }

    /// Hummingbird closes connections on which it has seen no request for long.
    @Test func theRoutesGetARequestNowAndThen() throws {
        let connection = try FastChannel(idleTimeout: .zero)
        try connection.receive(RawSend().text)
        #expect(connection.forwarded == Self.route)
    }

    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (1_709_164_799, "Wed, 28 Feb 2024 23:59:59 GMT"),
    ])
    func datesAreThoseOfHTTP(_ seconds: Int64, _ text: String) {
        var buffer = ByteBuffer()
        HTTPDate.write(WireTime(milliseconds: seconds * 1000), to: &buffer)
        #expect(String(buffer: buffer) == text)
    }
}
