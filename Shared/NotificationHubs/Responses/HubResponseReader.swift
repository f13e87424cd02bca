import NIOCore
import NIOHTTP1

/// A response that cannot be read.
struct HubResponseError: Error, Equatable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Makes ``HubResponse`` values of the parts that SwiftNIO reads on one connection, one after another.
struct HubResponseReader {
    /// Longer bodies are not read to their end.
    static let maxBody = 1 << 20

    private var response: HubResponse?
    private var bodyBytes = 0

    /// Whether a part of a response has been read.
    var hasBegun: Bool { response != nil }

    /// SwiftNIO's decoder. No hub sends a longer head.
    static func decoder() -> HTTPResponseDecoder {
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (16_384, 16_384)
        return HTTPResponseDecoder(limitConfiguration: limits)
    }

    /// - Returns: the response, once it is complete. The decoder skips interim responses (1xx).
    mutating func read(_ part: HTTPClientResponsePart) throws(HubResponseError) -> HubResponse? {
        switch part {
        case .head(let head):
            guard head.status != .switchingProtocols else { throw HubResponseError("the hub wants another protocol") }
            (response, bodyBytes) = (HubResponse(head), 0)
            return nil
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            guard bodyBytes <= Self.maxBody else { throw HubResponseError("the response's body is too long") }
            // Only an error's body says something.
            guard let response, response.status >= 300 else { return nil }
            let capacity = HubResponse.maxBody - response.body.count
            self.response?.body += bytes.readableBytesView.prefix(capacity)
            return nil
        case .end:
            defer { response = nil }
            return response
        }
    }
}

extension HubResponse {
    fileprivate init(_ head: HTTPResponseHead) {
        self.init(status: Int(head.status.code))
        messageID = head.field("Location").flatMap { HubMessageID.inLocation($0.utf8) }
        retryAfter = head.field("Retry-After")
        if status == 401 { date = head.field("Date") }
        keepsAlive = head.isKeepAlive
    }
}

extension HTTPResponseHead {
    /// The decoder leaves the blanks behind a value.
    fileprivate func field(_ name: String) -> String? {
        guard var value = headers.first(name: name) else { return nil }
        while value.last == " " || value.last == "\t" { value.removeLast() }
        return value
    }
}

/// Writes requests whose bytes are complete. It drops their heads, which only tell SwiftNIO's decoder that a response
/// will come.
final class PreparedRequestEncoder: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = ByteBuffer

    /// The head before each request. The decoder only wants its method.
    static let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(.byteBuffer(let bytes)) = unwrapOutboundIn(data) else {
            promise?.succeed()
            return
        }
        context.write(wrapOutboundOut(bytes), promise: promise)
    }
}
