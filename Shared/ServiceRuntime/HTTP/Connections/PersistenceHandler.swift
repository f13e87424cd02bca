import NIOCore
import NIOHTTP1

/// Ends an HTTP/1 connection after the request with which its client wants to end it (RFC 9112, sections 9.3 and 9.6),
/// and answers HTTP/1.0 in a form that it can read (RFC 9112, section 6.1).
///
/// Hummingbird ends a connection only for a `Connection` that is exactly `close`, and the codec behind this handler
/// drops the version. So its place is before that codec.
final class PersistenceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The last request of the connection.
    private struct Last {
        let isHTTP10: Bool
        /// Answers to earlier requests that are not complete.
        var earlier: Int
        var isRead = false
    }

    private let connection: ConnectionHandler?
    /// Requests whose answers are not complete.
    private var unanswered = 0
    private var last: Last?

    init(_ connection: ConnectionHandler?) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the last request are not read (RFC 9112, section 9.6).
        if last?.isRead == true { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            let isHTTP10 = head.version.major == 1 && head.version.minor == 0
            if isHTTP10 || head.headers[canonicalForm: "connection"].contains(where: Self.isClose) {
                last = Last(isHTTP10: isHTTP10, earlier: unanswered)
                connection?.takesNoMoreRequests()
                head.headers.replaceOrAdd(name: "connection", value: "close")
                // RFC 9110, section 10.1.1: an expectation of HTTP/1.0 is ignored.
                if isHTTP10 { head.headers.remove(name: "expect") }
            }
            unanswered += 1
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: break
        case .end: last?.isRead = true
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where last?.earlier == 0 && head.status.code >= 200:
            head.headers.replaceOrAdd(name: "connection", value: "close")
            if last?.isHTTP10 == true {
                head.version = .http1_0
                head.headers.remove(name: "transfer-encoding")
            }
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            unanswered -= 1
            if let earlier = last?.earlier { last?.earlier = max(0, earlier - 1) }
        default: break
        }
        context.write(data, promise: promise)
    }

    private static func isClose(_ option: Substring) -> Bool {
        option.utf8.count == 5 && option.lowercased() == "close"
    }
}
