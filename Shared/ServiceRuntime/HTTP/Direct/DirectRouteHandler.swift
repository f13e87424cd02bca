import Foundations
import HTTPTypes
import Logging
import NIOCore

/// Answers the requests of ``DirectRoutes`` on an HTTP/1.1 connection, and passes all other bytes on to the parser of
/// the router.
///
/// Responses leave in the order of the requests: a request is direct only while the router has none of this connection,
/// and everything that arrives during a direct request waits for its end. Its place is between ``ConnectionHandler``,
/// which counts and bounds direct requests like all others, and NIO's encoder.
///
/// Decision: docs/decisions/0007-direct-routes.md
final class DirectRouteHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// The next byte begins a request.
        case betweenRequests
        /// A request is the router's, and this number of its bytes have not arrived.
        case passing(Int)
        /// The router reads everything that is still to come: an unusual request can end anywhere.
        case given
    }

    /// A request that a route answers. It does not hold the bytes, whose buffer is used again.
    private struct Answering {
        let route: Int
        let id: String
        let trace: TraceContext?
        /// `nil` if the request is not traced.
        let span: RequestTrace?
        /// The captured `{id}` of the path; only for the access log.
        let pathID: String?
        /// The client's address; only for the access log.
        let client: String?
        let start: ContinuousClock.Instant
        let permit: InFlightRequests.Permit
    }

    /// What else has happened during a direct request.
    private enum Occurrence {
        case event(Any)
        case error(any Error)
    }

    /// How long the rest of a small body may take before the router waits for it, which has deadlines for bodies.
    private static let patience = TimeAmount.seconds(1)

    private let table: DirectRouteTable
    private let connection: ConnectionHandler
    private var context: ChannelHandlerContext?
    private var phase = Phase.betweenRequests
    private var answering: Answering?
    /// The number of the newest direct request.
    private var number: UInt64 = 0
    /// Bytes that are not handled yet: the beginning of a request, or bytes that arrived during one. Besides an
    /// incomplete request, it holds at most the bytes of one read of the socket.
    private var waiting = ByteBuffer()
    private var occurrences: CircularBuffer<Occurrence> = []
    private var isReadWanted = false
    private var isReading = false
    private var hasPassed = false
    private var wakeUp: Scheduled<Void>?

    init(_ table: DirectRouteTable, connection: ConnectionHandler) {
        self.table = table
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        wakeUp?.cancel()
        self.context = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if waiting.readableBytes == 0 { waiting = bytes } else { waiting.writeBuffer(&bytes) }
        if answering == nil { readRequests(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    /// Handles the waiting bytes, up to a direct request that is not answered at once.
    private func readRequests(_ context: ChannelHandlerContext) {
        isReading = true
        defer { isReading = false }
        while answering == nil, waiting.readableBytes > 0 {
            switch phase {
            case .given: pass(waiting.readableBytes, context)
            case .passing(let missing):
                let count = min(missing, waiting.readableBytes)
                phase = count == missing ? .betweenRequests : .passing(missing - count)
                pass(count, context)
            case .betweenRequests:
                // The client does not read its responses. Later requests wait, so that it cannot fill the memory.
                guard context.channel.isWritable else { return }
                guard begin(context) else { return waitForRest(context) }
            }
        }
        wakeUp?.cancel()
        wakeUp = nil
    }

    /// - Returns: `false` if the request is not complete.
    private func begin(_ context: ChannelHandlerContext) -> Bool {
        switch waiting.withUnsafeReadableBytes(PlainRequestHead.parse) {
        case .incomplete: return false
        case .unusual: phase = .given
        case .head(let head):
            let length = head.length + head.bodyLength
            guard let match = match(head) else {
                phase = .passing(length)
                return true
            }
            guard waiting.readableBytes >= length else { return false }
            answer(head, match, context)
        }
        return true
    }

    private func match(_ head: PlainRequestHead) -> DirectRouteTable.Match? {
        guard head.isDirect, connection.takesDirectRequests else { return nil }
        let match = waiting.withUnsafeReadableBytes { table.match(UnsafeRawBufferPointer(rebasing: $0[head.line])) }
        return match.flatMap { head.bodyLength <= table.routes[$0.route].maxBodyBytes ? $0 : nil }
    }

    private func answer(
        _ head: PlainRequestHead, _ match: DirectRouteTable.Match, _ context: ChannelHandlerContext
    ) {
        let length = head.length + head.bodyLength
        // Without a permit the router answers 503.
        guard let permit = table.service.requests.begin(),
            let bytes = waiting.getSlice(at: waiting.readerIndex, length: length)
        else { return phase = .passing(length) }
        let request = DirectRequest(
            bytes, head, method: table.routes[match.route].method, captured: match.parameter, service: table.service)
        number += 1
        let logsAccess = table.service.boundary.logsAccess
        answering = Answering(
            route: match.route, id: request.id, trace: request.traceContext, span: request.trace,
            pathID: logsAccess && table.routes[match.route].hasID ? request.parameter : nil,
            client: logsAccess ? client(of: request, context) : nil, start: .now, permit: permit)
        connection.requestBegan()
        let rest = waiting.readableBytes - length
        waiting.moveReaderIndex(forwardBy: length)
        if rest == 0 { waiting = ByteBuffer() }
        let reply = DirectReply(self, number: number, on: context.channel)
        if table.routes[match.route].answer(request, reply) { return }
        if rest == 0 { waiting = bytes } else { waiting.moveReaderIndex(to: waiting.readerIndex - length) }
        answering = nil
        permit.end()
        connection.requestEnded()
        phase = .passing(length)
    }

    private func client(of request: DirectRequest, _ context: ChannelHandlerContext) -> String? {
        let peer = context.channel.remoteAddress
        return table.service.proxies.client(of: peer) { (request.forwarded, request.forwardedFor) }?.ipAddress
    }

    /// Passes bytes to the router.
    private func pass(_ count: Int, _ context: ChannelHandlerContext) {
        guard let bytes = waiting.readSlice(length: count) else { return }
        if waiting.readableBytes == 0 { waiting = ByteBuffer() }
        hasPassed = true
        context.fireChannelRead(wrapInboundOut(bytes))
    }

    /// A request is not complete. ``ConnectionHandler`` bounds the time of its head.
    private func waitForRest(_ context: ChannelHandlerContext) {
        guard wakeUp == nil else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        wakeUp = context.eventLoop.scheduleTask(in: Self.patience) { handler.value.giveUp() }
    }

    private func giveUp() {
        wakeUp = nil
        guard let context, answering == nil, case .betweenRequests = phase, waiting.readableBytes > 0 else { return }
        guard case .head(let head) = waiting.withUnsafeReadableBytes(PlainRequestHead.parse) else { return }
        phase = .passing(head.length + head.bodyLength)
        readRequests(context)
        channelReadComplete(context: context)
    }

    // MARK: The response of a direct request

    /// Sends the response of a direct request; only its first reply counts.
    func finish(_ number: UInt64, _ result: Result<CompleteResponse, any Error>) {
        guard let answering, number == self.number else { return }
        self.answering = nil
        answering.permit.end()
        let response = response(result, answering)
        if let context, context.channel.isActive { write(response, answering, context) }
        connection.requestEnded()
        let route = table.routes[answering.route]
        table.service.boundary.finish(
            route.method, route: route.template, status: response.status, elapsed: .now - answering.start,
            logs: table.service.logger.logLevel <= .debug && !table.service.boundary.logsAccess,
            logger: logger(answering))
        if answering.span != nil || table.service.boundary.logsAccess { observe(response, answering, route) }
        resume()
    }

    /// Ends the span, and writes the line of the access log.
    private func observe(_ response: CompleteResponse, _ answering: Answering, _ route: DirectRoute) {
        let line = ObservedRequest.AccessLine(
            id: answering.pathID.flatMap { $0.isEmpty ? nil : $0 }, client: answering.client)
        let observed = ObservedRequest(
            method: route.method, route: route.template, requestID: answering.id, start: answering.start,
            trace: answering.span, line: table.service.boundary.logsAccess ? line : nil)
        observed.end(response.status.code, bytes: response.body.readableBytes, logger: table.service.logger)
    }

    private func response(
        _ result: Result<CompleteResponse, any Error>, _ answering: Answering
    ) -> CompleteResponse {
        switch result {
        case .success(let response): return response
        case .failure(let error):
            table.service.boundary.log(error, to: logger(answering))
            return CompleteResponse(Problem(error, requestID: answering.id))
        }
    }

    private func logger(_ answering: Answering) -> Logger {
        table.service.logger.of(request: answering.id, trace: answering.span?.context ?? answering.trace)
    }

    private func write(_ response: CompleteResponse, _ answering: Answering, _ context: ChannelHandlerContext) {
        let bytes = response.http1Bytes(
            id: answering.id, date: table.service.date.current,
            variesByOrigin: table.variesByOrigin[answering.route])
        if response.body.readableBytes > CompleteResponse.maxCopiedBody {
            context.write(wrapOutboundOut(bytes), promise: nil)
            context.writeAndFlush(wrapOutboundOut(response.body), promise: nil)
        } else {
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        }
        // No promise covers these bytes: the channel's own buffer says how many the client has not read.
        connection.noteUnsent()
    }

    // MARK: Everything else

    /// Handles the bytes that have arrived during the request.
    private func resume() {
        // A reply within the call of its route returns to the loop that reads requests.
        guard !isReading, let context, isReadWanted || waiting.readableBytes > 0 || !occurrences.isEmpty else { return }
        readRequests(context)
        while answering == nil, let occurrence = occurrences.popFirst() { pass(occurrence, context) }
        channelReadComplete(context: context)
        if isReadWanted {
            isReadWanted = false
            read(context: context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, answering == nil { resume() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { note(.event(event), context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { note(.error(error), context) }

    private func note(_ occurrence: Occurrence, _ context: ChannelHandlerContext) {
        if answering == nil { pass(occurrence, context) } else { occurrences.append(occurrence) }
    }

    private func pass(_ occurrence: Occurrence, _ context: ChannelHandlerContext) {
        switch occurrence {
        case .event(let event):
            // The rest of a request cannot come any more, and the parser answers that.
            if case .inputClosed = event as? ChannelEvent, waiting.readableBytes > 0 {
                phase = .given
                readRequests(context)
            }
            context.fireUserInboundEventTriggered(event)
        case .error(let error): context.fireErrorCaught(error)
        }
    }

    /// While something waits behind a direct request, nothing more is read: a client that sends many requests at once
    /// cannot fill the memory. The same is true while it does not read its responses; the rest of a request that is the
    /// router's is read nevertheless.
    func read(context: ChannelHandlerContext) {
        var isHeld = answering != nil && waiting.readableBytes > 0
        if answering == nil, case .betweenRequests = phase, !context.channel.isWritable { isHeld = true }
        if isHeld { isReadWanted = true } else { context.read() }
    }
}
