import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import SecurePushCore

/// Enforces the deadlines of the requests of an HTTP/1.1 connection or of one HTTP/2 stream. Answers requests that
/// never reach the router: invalid HTTP, and requests on a connection above the limit.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time between the last answer of a connection and its end, for the client to read the answer.
    private static let lingering = TimeAmount.seconds(1)

    private let limits: HTTPLimits
    private let direct: DirectRouteTable?
    private var connection: ConnectionHandler?
    private var hosts: HostHandler?
    private var isHTTP1 = false
    private var body: RequestBodyClock
    /// Requests whose answers are not complete.
    private var unanswered = 0
    private var parserError: HTTPParserError?
    /// All further input is ignored.
    private var isDone = false
    private var wakeUp: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    /// - Parameter direct: the routes of a ``DirectRouteHandler`` that HTTP/1.1 connections get.
    init(limits: HTTPLimits, direct: DirectRouteTable? = nil) {
        self.limits = limits
        self.direct = direct
        body = RequestBodyClock(limits: limits)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let pipeline = context.pipeline.syncOperations
        if let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) {
            isHTTP1 = true
            connection = try? pipeline.handler(type: ConnectionHandler.self)
            let hosts = HostHandler()
            try? pipeline.addHandler(hosts, position: .after(decoder))
            try? pipeline.addHandler(PersistenceHandler(connection), position: .after(hosts))
            self.hosts = hosts
            addDirectRoutes(pipeline)
        } else {
            // A stream's channel is on its connection's event loop.
            connection = try? context.channel.parent?.pipeline.syncOperations.handler(type: ConnectionHandler.self)
        }
    }

    private func addDirectRoutes(_ pipeline: ChannelPipeline.SynchronousOperations) {
        guard let direct, let connection, let encoder = try? pipeline.handler(type: HTTPResponseEncoder.self) else {
            return
        }
        let handler = DirectRouteHandler(direct, connection: connection)
        try? pipeline.addHandler(handler, position: .before(encoder))
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        context = nil
        wakeUp?.cancel()
        wakeUp = nil
        while unanswered > 0 {
            unanswered -= 1
            connection?.requestEnded()
        }
        connection = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isDone { return }
        switch part {
        case .head(let head):
            if connection?.isRestricted == true, !isForOperators(head.path ?? "") {
                isDone = true
                let problem = Problem.serviceUnavailable("The limit of connections is reached.")
                return refuse(problem, isHead: head.method == .head, context)
            }
            unanswered += 1
            connection?.requestBegan()
            body.began(length: head.headerFields[.contentLength].flatMap { Int($0) }, now: .now())
        case .body(let bytes): body.received(bytes.readableBytes, now: .now())
        case .end: body.ended()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        body.readCompleted(now: .now())
        schedule(context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        body.wantsRead(now: .now())
        context.read()
    }

    private func isForOperators(_ path: String) -> Bool {
        Operations.paths.contains(String(path.prefix { $0 != "?" }))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError { parserError = error }
        context.fireErrorCaught(error)
    }

    /// Sends `100 Continue`, unless the body has ended or the connection has.
    func askForBody() {
        guard let context, body.isOpen, !isDone else { return }
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if let problem = problem(insteadOf: head) {
                isDone = true
                return write(problem, isHead: false, context, promise)
            }
            if isHTTP1, unanswered == 1, body.isTooLongToDrain {
                head.headerFields[.connection] = "close"
                connection?.takesNoMoreRequests()
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            if unanswered > 0 {
                unanswered -= 1
                connection?.requestEnded()
            }
            if unanswered == 0, body.isOpen { body.refused(now: .now()) }
            context.write(data, promise: promise)
            if isDone { closeSoon(context) } else { schedule(context) }
        }
    }

    /// Hummingbird answers invalid HTTP with a 400 without a body. The client gets a problem instead.
    private func problem(insteadOf head: HTTPResponse) -> Problem? {
        guard let parserError, head.status == .badRequest, head.headerFields[.contentType] == nil else { return nil }
        switch parserError {
        case .invalidMethod: return Problem(.notImplemented, "This service does not implement the method.")
        case .headerOverflow:
            return Problem(.requestHeaderFieldsTooLarge, "The header fields are too large or too many.")
        case _ where hosts?.isRefused == true:
            return .badRequest("An HTTP/1.1 request must have exactly one valid Host.")
        default: return .badRequest("The request is not valid HTTP.")
        }
    }

    /// Answers instead of the routes, and ends the connection or the stream.
    private func refuse(_ problem: Problem, isHead: Bool, _ context: ChannelHandlerContext) {
        write(problem, isHead: isHead, context, nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        closeSoon(context)
    }

    /// The head and the body of a problem, without the end.
    private func write(
        _ problem: Problem, isHead: Bool, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        var problem = problem
        let id = RequestIdentifier.make()
        problem.instance = id
        let response = CompleteResponse(problem)
        var fields = response.headers
        fields[.contentLength] = "\(response.body.readableBytes)"
        fields[.xRequestID] = id
        if isHTTP1 { fields[.connection] = "close" }
        let head = HTTPResponse(status: response.status, headerFields: fields)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        if !isHead { context.write(wrapOutboundOut(.body(response.body)), promise: nil) }
    }

    /// Closing at once could make the client lose the answer if it has sent bytes that were not read.
    private func closeSoon(_ context: ChannelHandlerContext) {
        connection?.takesNoMoreRequests()
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.value.eventLoop.scheduleTask(in: Self.lingering) { context.value.close(promise: nil) }
    }

    // MARK: Deadlines of the body

    private func schedule(_ context: ChannelHandlerContext) {
        if body.hasDrainedTooMuch { return close(.drain, context) }
        guard body.isOpen else {
            wakeUp?.cancel()
            wakeUp = nil
            return
        }
        if body.isDraining { wakeUp?.cancel() } else if wakeUp != nil { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        wakeUp = context.eventLoop.scheduleTask(deadline: body.deadline) {
            let (handler, context) = bound.value
            handler.wakeUp = nil
            handler.check(context)
        }
    }

    private func check(_ context: ChannelHandlerContext) {
        guard body.isOpen else { return }
        let now = NIODeadline.now()
        guard now >= body.deadline else { return schedule(context) }
        if body.isDraining { return close(.drain, context) }
        if body.isReadWanted { return close(.body, context) }
        // The service is not reading, so the delay is not the client's.
        body.progressed(now: now)
        schedule(context)
    }

    private func close(_ reason: HTTPConnections.Reason, _ context: ChannelHandlerContext) {
        wakeUp?.cancel()
        wakeUp = nil
        connection?.connections.count(reason)
        context.close(promise: nil)
    }
}

/// Refuses an HTTP/1.1 request that does not have exactly one valid `Host` (RFC 9112, 3.2), in the way in which the
/// parser refuses invalid HTTP. Its place is before the codec, which keeps only one `Host`.
final class HostHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Whether a request was refused. Nothing after it is read.
    private(set) var isRefused = false

    /// The characters of `uri-host [ ":" port ]` (RFC 3986, 3.2.2).
    static let allowed = ByteSet.unreserved.union(ByteSet("!$&'()*+,;=:[]%"))

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        if case .head(let head) = unwrapInboundIn(data), !Self.isValid(head) {
            isRefused = true
            return context.fireErrorCaught(HTTPParserError.unknown)
        }
        context.fireChannelRead(data)
    }

    private static func isValid(_ head: HTTPRequestHead) -> Bool {
        var count = 0
        for (name, value) in head.headers where name.utf8.count == 4 && name.lowercased() == "host" {
            count += 1
            guard allowed.containsAll(value) else { return false }
        }
        return count == 1 || (count == 0 && head.version.minor == 0)
    }
}
