import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes
import SecurePushCore

/// Answers the requests of ``DirectRoutes`` and passes all others on to the router.
///
/// Responses leave in the order of the requests: a request is direct only while the router has none of this connection,
/// and everything that arrives during a direct request waits for its end. Its place is after ``RequestHandler``, which
/// counts and bounds direct requests like all others.
final class DirectRouteHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        case betweenRequests
        /// The head has arrived and the end has not.
        case collecting(Candidate)
        case answering(Request)
        /// The rest of the request goes to the router.
        case passing
    }

    /// A request that a route may answer.
    private struct Candidate {
        let route: DirectRoute
        let parameter: Substring
        let head: HTTPRequest
        var body: ByteBuffer?
    }

    /// A request that a route answers.
    private struct Request {
        let route: DirectRoute
        let id: String
        let trace: TraceContext?
        let start: ContinuousClock.Instant
        let permit: InFlightRequests.Permit
    }

    /// What has arrived during a direct request.
    private enum Arrival {
        case part(HTTPRequestPart)
        case event(Any)
        case error(any Error)
    }

    private let routes: DirectRoutes
    private let service: ServiceContext
    private var context: ChannelHandlerContext?
    private var phase = Phase.betweenRequests
    /// The number of the newest direct request.
    private var number: UInt64 = 0
    /// Requests that the router has not answered.
    private var routed = 0
    /// At most what one read of the socket gives, because there is no other while something waits.
    private var arrivals: CircularBuffer<Arrival> = []
    private var isReadWanted = false

    init(_ routes: DirectRoutes, service: ServiceContext) {
        self.routes = routes
        self.service = service
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isAnswering { return arrivals.append(.part(unwrapInboundIn(data))) }
        receive(unwrapInboundIn(data), context)
    }

    private var isAnswering: Bool {
        if case .answering = phase { return true }
        return false
    }

    private func receive(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (phase, part) {
        case (.betweenRequests, .head(let head)):
            if routed == 0, let candidate = candidate(head) {
                phase = .collecting(candidate)
            } else {
                pass(head, context)
            }
        case (.collecting(var candidate), .body(let bytes)):
            if candidate.body == nil { candidate.body = bytes } else { candidate.body?.writeImmutableBuffer(bytes) }
            phase = .collecting(candidate)
        case (.collecting(let candidate), .end(nil)): answer(candidate, context)
        default:
            giveBack(context)
            if case .end = part { phase = .betweenRequests }
            context.fireChannelRead(wrapInboundOut(part))
        }
    }

    private func candidate(_ head: HTTPRequest) -> Candidate? {
        guard let path = head.path else { return nil }
        for route in routes.routes {
            guard let parameter = route.match(head.method, path) else { continue }
            guard let length = head.simpleBodyLength, length <= route.maxBodyBytes else { return nil }
            return Candidate(route: route, parameter: parameter, head: head)
        }
        return nil
    }

    private func answer(_ candidate: Candidate, _ context: ChannelHandlerContext) {
        // Without a permit the router answers 503.
        guard let permit = service.requests.begin() else { return passWhole(candidate, context) }
        let id = RequestIdentifier.of(candidate.head.headerFields)
        number += 1
        let trace = candidate.head.headerFields.traceContext
        let request = Request(route: candidate.route, id: id, trace: trace, start: .now, permit: permit)
        phase = .answering(request)
        let isTaken = candidate.route.answer(
            DirectRequest(
                head: candidate.head, parameter: candidate.parameter, body: candidate.body ?? ByteBuffer(), id: id,
                context: service),
            DirectReply(self, number: number, on: context.eventLoop))
        guard !isTaken else { return }
        permit.end()
        passWhole(candidate, context)
    }

    // MARK: Passing requests to the router

    private func pass(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
        phase = .passing
        routed += 1
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func passWhole(_ candidate: Candidate, _ context: ChannelHandlerContext) {
        phase = .collecting(candidate)
        giveBack(context)
        phase = .betweenRequests
        context.fireChannelRead(wrapInboundOut(.end(nil)))
    }

    /// Passes the part of a request that has been collected.
    private func giveBack(_ context: ChannelHandlerContext) {
        guard case .collecting(let candidate) = phase else { return }
        pass(candidate.head, context)
        if let body = candidate.body { context.fireChannelRead(wrapInboundOut(.body(body))) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), routed > 0 { routed -= 1 }
        context.write(data, promise: promise)
    }

    // MARK: The response of a direct request

    /// Sends the response of a direct request; only its first reply counts.
    func finish(_ number: UInt64, _ result: Result<CompleteResponse, any Error>) {
        guard case .answering(let request) = phase, number == self.number else { return }
        phase = .betweenRequests
        request.permit.end()
        let response = response(result, request)
        if let context, context.channel.isActive { write(response, request, context) }
        service.boundary.finish(
            request.route.method, route: request.route.template, status: response.status,
            elapsed: .now - request.start, logs: service.logger.logLevel <= .debug, logger: logger(request))
        resume()
    }

    private func response(_ result: Result<CompleteResponse, any Error>, _ request: Request) -> CompleteResponse {
        switch result {
        case .success(let response): return response
        case .failure(let error):
            service.boundary.log(error, to: logger(request))
            return Problem(error, requestID: request.id).completeResponse
        }
    }

    private func logger(_ request: Request) -> Logger { service.logger.of(request: request.id, trace: request.trace) }

    private func write(_ response: CompleteResponse, _ request: Request, _ context: ChannelHandlerContext) {
        var fields = response.headers
        fields.append(HTTPField(name: .contentLength, value: "\(response.body.readableBytes)"))
        fields.append(HTTPField(name: .date, value: service.date.current))
        fields.append(HTTPField(name: .xRequestID, value: request.id))
        if let cors = routes.cors, cors.covers(request.route.template) { fields[values: .vary].append("Origin") }
        let head = HTTPResponse(status: response.status, headerFields: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if response.body.readableBytes > 0 { context.write(wrapOutboundOut(.body(response.body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    // MARK: Everything else

    /// Handles what has arrived during the request.
    private func resume() {
        guard let context, isReadWanted || !arrivals.isEmpty else { return }
        var hasPassed = false
        while !isAnswering, let arrival = arrivals.popFirst() {
            hasPassed = true
            switch arrival {
            case .part(let part): receive(part, context)
            case .event(let event): pass(event: event, context)
            case .error(let error): pass(error: error, context)
            }
        }
        if hasPassed { context.fireChannelReadComplete() }
        if isReadWanted, arrivals.isEmpty {
            isReadWanted = false
            context.read()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isAnswering { arrivals.append(.event(event)) } else { pass(event: event, context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isAnswering { arrivals.append(.error(error)) } else { pass(error: error, context) }
    }

    private func pass(event: Any, _ context: ChannelHandlerContext) {
        giveBack(context)
        context.fireUserInboundEventTriggered(event)
    }

    private func pass(error: any Error, _ context: ChannelHandlerContext) {
        giveBack(context)
        context.fireErrorCaught(error)
    }

    /// While something waits, nothing more is read: a client that sends many requests at once cannot fill the memory.
    func read(context: ChannelHandlerContext) {
        if arrivals.isEmpty { context.read() } else { isReadWanted = true }
    }
}

extension HTTPRequest {
    /// The declared length of the body of a request that has nothing unusual, 0 without a body; `nil` for any other.
    ///
    /// One pass over the fields: looking each up would index them all.
    fileprivate var simpleBodyLength: Int? {
        var length: Int?
        for field in headerFields {
            switch field.name {
            case .contentLength:
                guard length == nil, let value = Int(field.value), value >= 0 else { return nil }
                length = value
            case .connection: guard field.value.lowercased() == "keep-alive" else { return nil }
            case .expect, .origin, .transferEncoding, .upgrade: return nil
            default: break
            }
        }
        return length ?? 0
    }
}

extension Problem {
    fileprivate var completeResponse: CompleteResponse {
        var fields = headers
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        return CompleteResponse(status: status, headers: fields, body: ByteBuffer(bytes: jsonBytes))
    }
}
