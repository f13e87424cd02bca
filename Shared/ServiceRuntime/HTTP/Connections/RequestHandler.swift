import Foundations
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// Enforces the deadlines of the requests of an HTTP/1.1 connection or of one HTTP/2 stream, and counts the bodies that
/// have not arrived and the answers that have not left. Answers requests that never reach the router: invalid HTTP,
/// requests on a connection above the limit, and those above the limit of waiting bodies.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time between the last answer of a connection and its end, for the client to read the answer.
    private static let lingering = TimeAmount.seconds(1)

    private let limits: HTTPLimits
    private let direct: DirectRouteTable?
    private let logger: Logger
    private var connection: ConnectionHandler?
    private var hosts: HostHandler?
    private var isHTTP1 = false
    private var body: RequestBodyClock
    /// Requests whose answers are not complete.
    private var unanswered = 0
    private var parserError: HTTPParserError?
    /// All further input is ignored.
    private var isDone = false
    /// The answer of a stream is complete.
    private var isAnswered = false
    /// The stream ends when its answer has left.
    private var isEnding = false
    private var wakeUp: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    /// The parts of a request that arrived in the current read. Whether its body waits is known at the end of the read,
    /// and a request above the limit of waiting bodies must not reach the router.
    private var held: [HTTPRequestPart] = []
    private var client: SocketAddress?
    /// The address whose waiting body the request is; `nil` inside if there is no address.
    private var waiting: ClientAddress??
    /// The bytes of the answer that no promise covers yet.
    private var uncovered = 0
    /// The answer leaves in parts, between which much time may pass.
    private var isStreaming = false
    /// Answers that are complete and have not left the process, and as many as ``InFlightRequests`` was told of.
    private var unsent = 0
    private var notedUnsent = 0

    /// - Parameter direct: the routes of a ``DirectRouteHandler`` that HTTP/1.1 connections get.
    init(limits: HTTPLimits, direct: DirectRouteTable? = nil, logger: Logger) {
        self.limits = limits
        self.direct = direct
        self.logger = logger
        body = RequestBodyClock(limits: limits)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        do {
            try addHandlers(context)
        } catch {
            // Without them the requests would not be checked.
            logger.error(
                "A connection is closed because its handlers cannot be set up",
                metadata: [LogKeys.errorType: "\(type(of: error))"])
            isDone = true
            context.close(promise: nil)
        }
    }

    /// - Throws: an error of NIO if the pipeline is not as expected.
    private func addHandlers(_ context: ChannelHandlerContext) throws {
        let pipeline = context.pipeline.syncOperations
        if let parent = context.channel.parent,
            (try? pipeline.handler(type: HTTP2FramePayloadToHTTPServerCodec.self)) != nil
        {
            // A stream's channel is on its connection's event loop.
            connection = try parent.pipeline.syncOperations.handler(type: ConnectionHandler.self)
            connection?.streams += 1
            return
        }
        isHTTP1 = true
        let connection = try pipeline.handler(type: ConnectionHandler.self)
        let hosts = HostHandler()
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(hosts, position: .after(decoder))
        try pipeline.addHandler(PersistenceHandler(connection), position: .after(hosts))
        if let direct {
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            try pipeline.addHandler(
                DirectRouteHandler(direct, connection: connection), position: .before(encoder))
        }
        self.connection = connection
        self.hosts = hosts
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
        held = []
        bodyArrived()
        while unanswered > 0 {
            unanswered -= 1
            connection?.requestEnded()
        }
        noteUnsent(0)
        // No end follows that would cover them, and an HTTP/2 connection outlives its streams.
        connection?.sent(uncovered, isEnd: false)
        uncovered = 0
        if !isHTTP1 { connection?.streams -= 1 }
        connection = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isDone { return }
        switch part {
        case .head(let head):
            let path = Substring((head.path ?? "").utf8.prefix { $0 != UInt8(ascii: "?") })
            if connection?.isRestricted == true, !Operations.paths.contains(String(path)) {
                isDone = true
                let problem = Problem.serviceUnavailable("The limit of connections is reached.")
                return refuse(problem, isHead: head.method == .head, context)
            }
            if let connection, connection.streams > limits.maxStreams {
                // The client has not read the server's SETTINGS yet, or ignores them. It may try again.
                isDone = true
                let reset = NIOHTTP2FramePayloadToHTTPEvent.reset(code: .refusedStream)
                return context.triggerUserOutboundEvent(reset, promise: nil)
            }
            unanswered += 1
            connection?.requestBegan()
            body.began(
                length: head.headerFields[.contentLength].flatMap { Int($0) },
                isStreamed: limits.isStreamed(path), now: .now())
            client = context.channel.remoteAddress
            if let connection { client = connection.connections.proxies.client(of: client, head.headerFields) }
            held = [part]
        case .body(let bytes):
            body.received(bytes.readableBytes, now: .now())
            if held.isEmpty { context.fireChannelRead(data) } else { held.append(part) }
        case .end:
            body.ended()
            bodyArrived()
            passHeld(context)
            context.fireChannelRead(data)
        }
    }

    private func passHeld(_ context: ChannelHandlerContext) {
        let parts = held
        held = []
        for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !held.isEmpty {
            guard admitBody() else { return refuseBody(context) }
            passHeld(context)
        }
        body.readCompleted(now: .now())
        schedule(context)
        context.fireChannelReadComplete()
    }

    // MARK: Bodies that have not arrived

    private func admitBody() -> Bool {
        guard let connection, waiting == nil else { return true }
        let address = client?.ipAddress.flatMap { ClientAddress($0) }
        guard connection.connections.bodies.begin(address) else { return false }
        waiting = .some(address)
        return true
    }

    private func bodyArrived() {
        guard let address = waiting else { return }
        waiting = nil
        connection?.connections.bodies.end(address)
    }

    private func refuseBody(_ context: ChannelHandlerContext) {
        let isHead = if case .head(let head) = held.first { head.method == .head } else { false }
        held = []
        isDone = true
        connection?.connections.count(.waiting)
        // Earlier requests of the connection have not been answered, and answers leave in order.
        if unanswered > 1 { return context.close(promise: nil) }
        refuse(
            Problem.serviceUnavailable("Too many requests wait for their bodies; send the body with the head."),
            isHead: isHead, context)
    }

    func read(context: ChannelHandlerContext) {
        body.wantsRead(now: .now())
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError { parserError = error }
        passHeld(context)
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
        case .body(let bytes):
            uncovered += bytes.readableBytes
            connection?.willSend(bytes.readableBytes, isEnd: false)
            guard isStreaming || uncovered >= Self.coveredBytes else { return context.write(data, promise: promise) }
            context.write(data, promise: covering(isEnd: false, promise, context))
        case .end:
            if unanswered > 0 {
                unanswered -= 1
                connection?.requestEnded()
            }
            if unanswered == 0, body.isOpen { body.refused(now: .now()) }
            connection?.willSend(0, isEnd: true)
            unsent += 1
            isStreaming = false
            isAnswered = !isHTTP1
            context.write(data, promise: covering(isEnd: true, promise, context))
            if isDone { closeSoon(context) } else { schedule(context) }
        }
    }

    func flush(context: ChannelHandlerContext) {
        if uncovered > 0 { isStreaming = true }
        context.flush()
        // What could be written at once has left by now.
        noteUnsent(min(1, unsent))
        connection?.noteUnsent()
    }

    /// A promise per answer, one for each of so many bytes of a long one, and one for each part that is flushed alone.
    private static let coveredBytes = 64 * 1024

    /// A promise that, when it is fulfilled, removes the bytes written so far from the unsent ones.
    private func covering(
        isEnd: Bool, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        let promise = promise ?? context.eventLoop.makePromise()
        let bytes = uncovered
        uncovered = 0
        // The connection outlives the handler.
        let bound = NIOLoopBound((self, connection), eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in
            let (handler, connection) = bound.value
            connection?.sent(bytes, isEnd: isEnd)
            guard isEnd else { return }
            handler.unsent -= 1
            handler.endRequest()
            if handler.notedUnsent > 0 { handler.noteUnsent(min(1, handler.unsent)) }
        }
        return promise
    }

    /// Counts an answer that has not left as in flight: of an HTTP/1.1 connection one, whose requests are answered one
    /// after the other.
    private func noteUnsent(_ count: Int) {
        guard count != notedUnsent, let connection else { return }
        connection.connections.requests.addUnsent(count - notedUnsent)
        notedUnsent = count
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

    /// Of HTTP/2, ends a stream when its answer has left; the second time at once.
    ///
    /// NIO closes a stream by a reset with `CANCEL`, which drops data that waits for the client's window. After it,
    /// clients such as nginx discard an answer that they have received completely.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, isAnswered, !isEnding else { return context.close(mode: mode, promise: promise) }
        isEnding = true
        context.channel.closeFuture.cascade(to: promise)
        endRequest()
    }

    /// Tells the client that the rest of its request is not needed (RFC 9113, section 8.1). Without a rest the stream
    /// has ended by itself.
    private func endRequest() {
        guard isEnding, unsent == 0, body.isOpen else { return }
        context?.triggerUserOutboundEvent(NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError), promise: nil)
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
        body.stillPaused(now: now)
        schedule(context)
    }

    private func close(_ reason: HTTPConnections.Reason, _ context: ChannelHandlerContext) {
        wakeUp?.cancel()
        wakeUp = nil
        if !isEnding { connection?.connections.count(reason) }
        close(context: context, mode: .all, promise: nil)
    }
}
