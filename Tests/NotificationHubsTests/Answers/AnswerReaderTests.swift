import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import NotificationHubs

/// What is read of a hub's bytes, behind SwiftNIO's decoder.
@Suite struct AnswerReaderTests {
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        var reader = HubResponseReader()
        var answers: [HubResponse] = []
        var error: (any Error)?

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            do { try reader.read(unwrapInboundIn(data)).map { answers.append($0) } } catch { self.error = error }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { self.error = error }
    }

    /// Gives a connection with one request these bytes.
    ///
    /// - Parameter isClosed: whether the hub closes the connection behind them.
    private func read(_ bytes: [ByteBuffer], isClosed: Bool = false) throws -> Collector {
        let collector = Collector()
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([
            PreparedRequestEncoder(), ByteToMessageHandler(HubResponseReader.decoder()), collector,
        ])
        try channel.writeOutbound(HTTPClientRequestPart.head(PreparedRequestEncoder.head))
        let request = ByteBuffer(string: "request")
        try channel.writeOutbound(HTTPClientRequestPart.body(.byteBuffer(request)))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == request)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        for bytes in bytes where collector.error == nil { _ = try? channel.writeInbound(bytes) }
        if isClosed { _ = try? channel.finish() }
        return collector
    }

    static let created =
        "HTTP/1.1 201 Created\r\nServer: Kestrel\r\nLocation: https://ns/hub/messages/M-1?api-version=2020-06\r\n"
        + "Content-Length: 0\r\n\r\n"
    static let chunked =
        "HTTP/1.1 400 Bad Request\r\ntransfer-encoding: Chunked\r\n\r\n"
        + "5\r\n<Deta\r\nE;x=1\r\nil>no</Detail>\r\n0\r\nX: y\r\n\r\n"
    static let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + created

    /// Every way to cut a text in two, and byte by byte: the answer is the same.
    @Test(arguments: [
        (created, HubResponse(status: 201, messageID: "M-1")), (interim, HubResponse(status: 201, messageID: "M-1")),
        (chunked, HubResponse(status: 400, body: Array("<Detail>no</Detail>".utf8))),
        (
            "HTTP/1.1 503 Busy\r\nRETRY-AFTER:  7 \r\nConnection: Keep-Alive, Close\r\nContent-Length: 3\r\n\r\nabc",
            HubResponse(status: 503, retryAfter: "7", body: Array("abc".utf8), keepsAlive: false)
        ),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", HubResponse(status: 200, keepsAlive: false)),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", HubResponse(status: 200)),
        ("HTTP/1.1 204\r\n\r\n", HubResponse(status: 204)),
    ])
    func anyCut(_ text: String, _ answer: HubResponse) throws {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            let read = try read([ByteBuffer(bytes: bytes[..<cut]), ByteBuffer(bytes: bytes[cut...])])
            #expect(read.answers == [answer], "cut at \(cut)")
            #expect(read.error == nil && !read.reader.hasBegun)
        }
        #expect(try read(bytes.map { ByteBuffer(bytes: [$0]) }).answers == [answer])
    }

    @Test(arguments: [
        "garbage\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20x OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n" + String(repeating: "x", count: 1_100_000),
        "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 20_000),
    ])
    func unreadable(_ text: String) throws {
        let read = try read([ByteBuffer(string: text)])
        #expect(read.error != nil)
        #expect(read.answers.isEmpty)
    }

    @Test func endsWithTheConnectionWhereNothingElseSaysSo() throws {
        let parts = ["HTTP/1.1 500 No\r\n\r\n<Detail>x", "y</Detail>"].map { ByteBuffer(string: $0) }
        #expect(try read(parts).answers.isEmpty)
        #expect(try read(parts, isClosed: true).answers.map(\.reason) == ["HTTP 500: xy"])
    }

    @Test(arguments: ["HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nabc", "HTTP/1.1 201 Cre"])
    func aCutAnswerDoesNotEndWithTheConnection(_ text: String) throws {
        let read = try read([ByteBuffer(string: text)], isClosed: true)
        #expect(read.answers.isEmpty)
        #expect(read.error as? HTTPParserError == .invalidEOFState)
    }

    @Test(arguments: [(400, 1024), (200, 0)])
    func keepsTheFirstKilobyteOfAnErrorAndNothingOfASuccess(_ status: Int, _ count: Int) throws {
        let body = String(repeating: "x", count: 5000)
        let read = try read([ByteBuffer(string: "HTTP/1.1 \(status) A\r\nContent-Length: 5000\r\n\r\n\(body)")])
        #expect(read.answers.map(\.body.count) == [count])
    }

    @Test func moreThanWasAskedForIsAnError() throws {
        let read = try read([ByteBuffer(string: Self.created + Self.created)])
        #expect(read.answers.map(\.status) == [201])
        #expect(read.error as? NIOHTTPDecoderError == .unsolicitedResponse)
    }
}
