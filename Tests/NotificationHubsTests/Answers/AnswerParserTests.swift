import NIOCore
import Testing

@testable import NotificationHubs

@Suite struct AnswerParserTests {
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
        (
            "HTTP/1.1 201 Created\r\nSecurePush-Outcome: Success=2, Unknown=1\r\nContent-Length: 0\r\n\r\n",
            HubResponse(status: 201, deviceOutcome: "Success=2, Unknown=1")
        ),
        ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", HubResponse(status: 200)),
    ])
    func `A response is read whole, wherever it is cut`(_ text: String, _ answer: HubResponse) throws {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var parser = HubResponseParser()
            let first = try parser.consume(ByteBuffer(bytes: bytes[..<cut]))
            let last = try cut < bytes.count ? parser.consume(ByteBuffer(bytes: bytes[cut...])) : nil
            #expect(first ?? last == answer, "cut at \(cut)")
            #expect(!parser.hasLeftover && !parser.hasBegun)
        }
        var parser = HubResponseParser()
        let answers = try bytes.compactMap { try parser.consume(ByteBuffer(bytes: [$0])) }
        #expect(answers == [answer])
    }

    @Test(arguments: [
        "garbage\r\n\r\n", "\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20x OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n" + String(repeating: "x", count: 1_100_000),
        "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 20_000),
    ])
    func `A response without the form of HTTP is refused`(_ text: String) {
        var parser = HubResponseParser()
        #expect(throws: HubResponseError.self) { try parser.consume(ByteBuffer(string: text)) }
    }

    @Test func `Ends with the connection where nothing else says so`() throws {
        var parser = HubResponseParser()
        #expect(try parser.consume(ByteBuffer(string: "HTTP/1.1 500 No\r\n\r\n<Detail>x")) == nil)
        #expect(try parser.consume(ByteBuffer(string: "y</Detail>")) == nil)
        let answer = parser.finish()
        #expect(answer?.reason == "HTTP 500: xy")
        #expect(answer?.keepsAlive == false)
    }

    @Test func `A cut answer does not end with the connection`() throws {
        var parser = HubResponseParser()
        #expect(try parser.consume(ByteBuffer(string: "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nabc")) == nil)
        #expect(parser.finish() == nil)
        #expect(parser.hasBegun)
    }

    @Test func `Keeps the first kilobyte of an error and nothing of a success`() throws {
        let body = String(repeating: "x", count: 5000)
        var parser = HubResponseParser()
        let refused = try parser.consume(ByteBuffer(string: "HTTP/1.1 400 No\r\nContent-Length: 5000\r\n\r\n\(body)"))
        #expect(refused?.body.count == 1024)
        let taken = try parser.consume(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n\(body)"))
        #expect(taken?.body.isEmpty == true)
    }

    @Test func `More than was asked for is seen`() throws {
        var parser = HubResponseParser()
        let answer = try parser.consume(ByteBuffer(string: Self.created + Self.created))
        #expect(answer?.status == 201)
        #expect(parser.hasLeftover)
    }
}
