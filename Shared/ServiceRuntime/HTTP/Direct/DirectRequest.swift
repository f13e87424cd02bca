package import Foundations
package import HTTPTypes
package import Hummingbird
package import Logging
package import NIOCore

/// A request that is offered to a ``DirectRoute``, with its whole body.
///
/// Its parts are read from its bytes on demand. Do not capture it: it holds the buffer that it was read into.
package struct DirectRequest: Sendable {
    /// The ID of the request, as in the response's `X-Request-Id`.
    package let id: String
    /// The span of the request; `nil` if it is not traced.
    package let trace: RequestTrace?
    /// The head and the body.
    private let bytes: ByteBuffer
    private let head: PlainRequestHead
    private let captured: Range<Int>
    private let method: HTTPRequest.Method
    private let service: ServiceContext

    init(
        _ bytes: ByteBuffer, _ head: PlainRequestHead, method: HTTPRequest.Method, captured: Range<Int>,
        service: ServiceContext
    ) {
        self.method = method
        self.bytes = bytes
        self.head = head
        self.captured = captured
        self.service = service
        id = RequestIdentifier.of(Self.text(head.requestID, of: bytes))
        trace = service.tracer.map { tracer in
            RequestTrace(
                tracer, parent: Self.text(head.traceparent, of: bytes).flatMap(TraceContext.init(traceparent:)))
        }
    }

    /// The captured segment of the path.
    package var parameter: String { text(captured) ?? "" }

    package var body: ByteBuffer {
        bytes.getSlice(at: bytes.readerIndex + head.length, length: head.bodyLength) ?? ByteBuffer()
    }

    /// The request as the router gives it to its routes, for a route whose two ways are one function: with its span as
    /// the caller, if it is traced.
    ///
    /// - Returns: `nil` for a request with cookies, which the router's parser divides.
    package var request: Request? {
        var fields = HTTPFields()
        let target = bytes.withUnsafeReadableBytes { bytes -> String? in
            var isComplete = true
            head.forEachField(bytes) { name, value in
                if name.count == 4, value == head.host { return }
                guard let name = HTTPField.Name(Self.text(name, of: bytes)), name != .cookie else {
                    return isComplete = false
                }
                fields.append(HTTPField(name: name, value: Self.text(value, of: bytes)))
            }
            guard isComplete, let space = bytes[head.line].firstIndex(of: 0x20) else { return nil }
            return Self.text(space + 1..<head.line.upperBound, of: bytes)
        }
        guard let target else { return nil }
        if let span = trace?.context { fields[.traceparent] = span.traceparent }
        return Request(
            head: HTTPRequest(
                method: method, scheme: "http", authority: text(head.host), path: target, headerFields: fields),
            body: RequestBody(buffer: body))
    }

    package var authorization: String? { text(head.authorization) }
    package var contentType: String? { text(head.contentType) }
    /// The value of `Forwarded` (RFC 7239).
    var forwarded: String? { text(head.forwarded) }
    /// The value of `X-Forwarded-For`.
    var forwardedFor: String? { text(head.forwardedFor) }
    /// Whether the request has an `Idempotency-Key`, valid or not.
    package var hasIdempotencyKey: Bool { head.idempotencyKey != nil }
    /// The trace of the request: its span, or else the `traceparent` (W3C Trace Context, section 3.2.2). `nil` if that
    /// is missing or not valid.
    package var traceContext: TraceContext? {
        if let trace { return trace.context }
        return text(head.traceparent).flatMap { TraceContext(traceparent: $0) }
    }

    private static func text(_ range: Range<Int>, of bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private func text(_ range: Range<Int>?) -> String? { Self.text(range, of: bytes) }

    private static func text(_ range: Range<Int>?, of bytes: ByteBuffer) -> String? {
        range.flatMap { bytes.getString(at: bytes.readerIndex + $0.lowerBound, length: $0.count) }
    }

    /// The service's logger with the metadata of this request. Making it costs more than most requests.
    package var logger: Logger { service.logger.of(request: id, trace: traceContext) }

    /// ``logger``; `nil` if nothing is logged for debugging.
    package var debugLogger: Logger? { service.logger.logLevel <= .debug ? logger : nil }
}

/// A response whose body is complete, for both ways of a route.
package struct CompleteResponse: Sendable {
    package var status: HTTPResponse.Status
    /// The header fields, without `Content-Length`, `Date` and `X-Request-Id`.
    package var headers: HTTPFields
    package var body: ByteBuffer

    package init(status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The fields of ``json(_:_:)``, made once.
    private static let jsonHeaders: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]

    /// JSON that no cache may store (`Cache-Control: no-store`; RFC 9111, 5.2.2.5).
    package static func json(_ status: HTTPResponse.Status = .ok, _ body: ByteBuffer) -> CompleteResponse {
        CompleteResponse(status: status, headers: jsonHeaders, body: body)
    }

    /// This response, as the router returns one.
    package var response: Response {
        Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

extension CompleteResponse {
    /// The response to a request that failed. It is the same whoever answers: the router, a direct route, or the
    /// handler of the connection.
    init(_ problem: Problem) {
        var fields = problem.headers
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        self.init(status: problem.status, headers: fields, body: ByteBuffer(bytes: problem.jsonBytes))
    }

    /// Longer bodies are written beside the head, and not copied behind it.
    static let maxCopiedBody = 16_384

    /// The head as HTTP/1.1 sends it, with the body behind it if that is short (RFC 9112, section 4).
    func http1Bytes(id: String, date: String, variesByOrigin: Bool) -> ByteBuffer {
        let isCopied = body.readableBytes <= Self.maxCopiedBody
        var bytes = ByteBufferAllocator().buffer(capacity: 384 + (isCopied ? body.readableBytes : 0))
        switch status.code {
        case 200: bytes.writeStaticString("HTTP/1.1 200 OK\r\n")
        case 201: bytes.writeStaticString("HTTP/1.1 201 Created\r\n")
        default: bytes.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        }
        for field in headers {
            bytes.writeString(field.name.rawName)
            bytes.writeStaticString(": ")
            bytes.writeString(field.value)
            bytes.writeStaticString("\r\n")
        }
        bytes.writeStaticString("Content-Length: ")
        bytes.writeString(String(body.readableBytes))
        bytes.writeStaticString("\r\nDate: ")
        bytes.writeString(date)
        bytes.writeStaticString("\r\nx-request-id: ")
        bytes.writeString(id)
        bytes.writeStaticString(variesByOrigin ? "\r\nVary: Origin\r\n\r\n" : "\r\n\r\n")
        if isCopied { bytes.writeImmutableBuffer(body) }
        return bytes
    }
}
