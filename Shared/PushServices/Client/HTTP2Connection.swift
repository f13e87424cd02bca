import NIOCore
import NIOHPACK
import NIOHTTP2

/// A connection of HTTP/2 that many requests share. It comes behind a `NIOHTTP2Handler` without a multiplexer, because
/// a request is two frames, and needs no channel of its own.
final class HTTP2Connection: ChannelInboundHandler, PushConnection {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The window of the connection for received data, in bytes. It is opened again as data comes.
    private static let window = 1_048_576
    /// Larger than the part of a body that is kept, so no stream needs a window update.
    private static let streamWindow = 131_072

    private let number: Int
    private let owner: any PushConnectionOwner
    private let dial: PushDial
    private var session: HTTP2Session
    private var context: ChannelHandlerContext?
    /// The stream that NIOHTTP2 has just closed because of a fault. It reports the error next.
    private var faultyStream: HTTP2StreamID?
    /// The fields of ``PushHTTPField/Indexing/nameIndexed`` that have been written.
    private var namesWritten: [String] = []

    init(dial: PushDial, session: HTTP2Session) {
        self.dial = dial
        self.session = session
        number = dial.number
        owner = dial.owner
    }

    /// The handler in front of this one.
    static func codec() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .initialWindowSize, value: streamWindow),
            HTTP2Setting(parameter: .maxHeaderListSize, value: PushResponseCollector.maxHead),
        ]
        // Many requests may end at their deadline together, and their answers come later.
        connection.maximumRecentlyResetStreams = 1024
        // APNs may change its SETTINGS with every push, in 30 s.
        connection.controlFrameRateLimit.maximumCount = 2000
        // Servers refuse hundreds of streams at once when they lower their number, or reset each whose answer comes
        // before the whole request. Beyond this limit NIOHTTP2 ends the connection, and with it pushes in flight that
        // may have been accepted.
        var streams = NIOHTTP2Handler.StreamConfiguration()
        streams.streamResetFrameRateLimit.maximumCount = 2000
        // `PushHTTPRequest.problem` has checked the fields of requests, and those of answers are only read here.
        connection.headerBlockValidation = .disabled
        return NIOHTTP2Handler(
            mode: .client, connectionConfiguration: connection, streamConfiguration: streams)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        run(session.received(unwrapInboundIn(data), now: .now()))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        faultyStream = nil
        run(session.readCompleted())
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2StreamCreatedEvent: session.opened(event.streamID)
        case let event as StreamClosedEvent:
            faultyStream = session.isInFlight(event.streamID) ? event.streamID : nil
            run(session.closed(event.streamID))
        case let event as NIOHTTP2WindowUpdatedEvent where event.streamID == .rootStream:
            openWindow(event.inboundWindowSize)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func openWindow(_ size: Int?) {
        guard let size, size <= Self.window / 2, context?.channel.isActive == true else { return }
        write(.windowUpdate(windowSizeIncrement: Self.window - size), on: .rootStream)
        flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        owner.broke(number, error)
        // A malformed answer to one request must not end the other requests.
        if faultyStream != nil { return retire() }
        end("the connection broke", error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end("the server closed the connection", ChannelError.eof)
        owner.closed(number)
        context.fireChannelInactive()
    }

    private func end(_ reason: String, _ error: any Error) {
        dial.fail(error)
        run(session.ended(reason))
        context?.close(promise: nil)
    }

    private func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) {
        context?.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }
}

// MARK: - Calls of the client

extension HTTP2Connection {
    func start(_ send: PushSend) {
        let (id, actions) = session.start(send, now: .now())
        let request = send.request
        write(.headers(.init(headers: headers(of: request), endStream: request.body.isEmpty)), on: id)
        if !request.body.isEmpty {
            write(.data(.init(data: .byteBuffer(ByteBuffer(bytes: request.body)), endStream: true)), on: id)
        }
        run(actions)
    }

    private func headers(of request: PushHTTPRequest) -> HPACKHeaders {
        var headers = HPACKHeaders()
        headers.reserveCapacity(request.headers.count + 5)
        headers.add(name: ":method", value: "POST")
        headers.add(name: ":scheme", value: "https")
        headers.add(name: ":authority", value: request.origin.authority)
        // Each path is used once, and it is a secret.
        headers.add(name: ":path", value: request.path, indexing: .nonIndexable)
        for field in request.headers {
            headers.add(name: field.name, value: field.value, indexing: indexing(of: field))
        }
        headers.add(name: "content-length", value: "\(request.body.count)", indexing: .nonIndexable)
        return headers
    }

    private func indexing(of field: PushHTTPField) -> HPACKIndexing {
        switch field.indexing {
        case .indexed: return .indexable
        case .notIndexed: return .nonIndexable
        case .neverIndexed: return .neverIndexed
        case .nameIndexed:
            if namesWritten.contains(field.name) { return .nonIndexable }
            namesWritten.append(field.name)
            return .indexable
        }
    }

    func flush() { context?.flush() }

    func interrupt(_ number: UInt64, _ interruption: PushInterruption) { run(session.interrupt(number, interruption)) }

    func check() { run(session.check(now: .now())) }

    func tick(now: NIODeadline) { run(session.tick(now: now)) }

    func retire() { run(session.retire()) }

    private func run(_ actions: [HTTP2Session.Action]) {
        for action in actions {
            switch action {
            case .ready(let room):
                openWindow(65_535)
                dial.succeed(self, room: room, isMultiplexed: true)
            case .room(let room): owner.roomChanged(of: number, to: room)
            case .finish(let send, let result): owner.finished(send, result)
            case .again(let send, let reason): owner.notProcessed(send, reason: reason, on: number)
            case .reset(let stream, let code):
                write(.rstStream(code), on: stream)
                flush()
            case .ended: owner.ended(on: number)
            case .ping(let ping):
                write(.ping(HTTP2PingData(withInteger: ping), ack: false), on: .rootStream)
                flush()
            case .pingAnswered: owner.pingAnswered(on: number)
            case .pingUnanswered: owner.pingUnanswered(on: number)
            case .goneAway(let code, let reason): owner.goneAway(number, code: "\(code)", reason: reason)
            case .leave(let wasUseful): owner.left(number, wasUseful: wasUseful)
            case .close:
                // The RST_STREAM that ended the last stream may have been written, and not flushed yet.
                flush()
                context?.close(promise: nil)
            }
        }
    }
}
