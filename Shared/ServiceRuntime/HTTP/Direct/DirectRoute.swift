public import HTTPTypes
public import Hummingbird
public import Logging
public import NIOCore
import SecurePushCore

/// A second way to a route of the router, for the requests that a service gets most.
///
/// A small, complete request is answered on the event loop that read it, by plain functions and callbacks: without a
/// task, and without a change of threads except for the store. Every request that the direct route does not take goes
/// to the router, whose route at the same path must call the same functions. So a direct route changes the cost of a
/// request and never its meaning.
///
/// Only requests that have nothing unusual are offered to it: a body within ``maxBodyBytes`` whose length is declared,
/// no `Expect`, `Origin`, `Transfer-Encoding` or `Upgrade`, and a connection that stays open. ``DirectRouteHandler``
/// has the details.
public struct DirectRoute: Sendable {
    /// Takes a request, or leaves it to the router.
    ///
    /// It is called on the request's event loop and must not block.
    ///
    /// - Returns: `true` if the reply was called or will be, exactly once and on any thread; `false` if the router is
    /// to
    ///   answer. The reply must not be called then.
    public typealias Answer = @Sendable (DirectRequest, DirectReply) -> Bool

    let method: HTTPRequest.Method
    /// The path as in metrics and logs: with `{id}` for a captured segment.
    let template: String
    let maxBodyBytes: Int
    let answer: Answer
    /// The path, or what comes before the captured last segment.
    private let prefix: [UInt8]
    private let hasCapture: Bool

    /// - Parameters:
    ///   - path: as in the router. Its last segment may be captured (`:id`); the others are plain.
    ///   - maxBodyBytes: requests with a larger body go to the router.
    public init(_ method: HTTPRequest.Method, _ path: RouterPath, maxBodyBytes: Int = 0, answer: @escaping Answer) {
        self.method = method
        self.maxBodyBytes = maxBodyBytes
        self.answer = answer
        template = path.description
        let capture = template.utf8.firstIndex(of: UInt8(ascii: "{"))
        prefix = Array(template.utf8[..<(capture ?? template.utf8.endIndex)])
        hasCapture = capture != nil
    }

    /// The captured segment of a request's path; empty if none is captured.
    ///
    /// - Parameter target: the path of the request, with its query.
    /// - Returns: `nil` if the request is for another route. A path with a query or with percent-encoding is.
    func match(_ method: HTTPRequest.Method, _ target: String) -> Substring? {
        guard method == self.method else { return nil }
        var target = target
        return target.withUTF8 { target in
            guard target.count >= prefix.count, prefix.elementsEqual(target[..<prefix.count]) else { return nil }
            let rest = target[prefix.count...]
            guard hasCapture else { return rest.isEmpty ? "" : nil }
            guard !rest.isEmpty, ByteSet.unreserved.containsAll(rest) else { return nil }
            return Substring(decoding: rest, as: UTF8.self)
        }
    }
}

/// The direct routes of a service.
public struct DirectRoutes: Sendable {
    let routes: [DirectRoute]
    let cors: CORSPolicy?

    /// - Parameter cors: the same as the router's.
    public init(_ routes: [DirectRoute], cors: CORSPolicy? = nil) {
        self.routes = routes
        self.cors = cors
    }
}

/// A request that is offered to a ``DirectRoute``, with its whole body.
public struct DirectRequest: Sendable {
    /// The method, the path and the header fields.
    public let head: HTTPRequest
    /// The captured segment of the path.
    public let parameter: Substring
    /// The body, which is complete.
    public let body: ByteBuffer
    /// The ID of the request, as in the response's `X-Request-Id`.
    public let id: String
    let context: ServiceContext

    /// The service's logger with the metadata of this request; `nil` if nothing is logged for debugging. Making it
    /// costs more than most requests.
    public var debugLogger: Logger? {
        guard context.logger.logLevel <= .debug else { return nil }
        return context.logger.of(request: id, trace: head.headerFields.traceContext)
    }
}

/// A response whose body is complete, for both ways of a route.
public struct CompleteResponse: Sendable {
    /// The status.
    public var status: HTTPResponse.Status
    /// The header fields, without `Content-Length`, `Date` and `X-Request-Id`.
    public var headers: HTTPFields
    /// The body.
    public var body: ByteBuffer

    /// Makes a response.
    public init(status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// JSON that no cache may store (`Cache-Control: no-store`; RFC 9111, 5.2.2.5).
    public static func json(_ status: HTTPResponse.Status = .ok, _ body: ByteBuffer) -> CompleteResponse {
        CompleteResponse(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"], body: body)
    }

    /// The same for the router.
    public var response: Response {
        Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
