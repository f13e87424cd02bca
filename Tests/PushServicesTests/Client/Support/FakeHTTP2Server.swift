import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL
import Synchronization

/// A server of HTTP/2 that does what a test says, frame by frame. NIOHTTP2 checks what the client sends: more streams
/// than its SETTINGS allow end the connection.
final class FakeHTTP2Server: Sendable {
    enum Step: Sendable {
        case answer(Int, headers: [(String, String)] = [], body: [UInt8] = [], ends: Bool = true)
        case data([UInt8], ends: Bool = false)
        case reset(HTTP2ErrorCode)
        case goAway(last: Int, HTTP2ErrorCode = .noError, text: String = "")
        case settings(maxStreams: Int)
        /// Nothing that the server writes leaves it any more, PING's answers too.
        case silence
        case close
    }

    struct Request: Sendable {
        /// From 0, among all connections and requests.
        let connection: Int
        let number: Int
        let stream: Int
        let headers: HPACKHeaders
        let body: [UInt8]

        var path: String { headers.first(name: ":path") ?? "" }
    }

    typealias Script = @Sendable (Request) -> [Step]

    struct Record: Sendable {
        var requests: [Request] = []
        /// Each with its channel.
        var channels: [any Channel] = []
        var openConnections = 0
        var inFlight = 0
        var maxInFlight = 0
        var resets = 0
        var pings = 0
    }

    fileprivate struct Command: Sendable {
        let stream: Int
        let steps: [Step]
    }

    fileprivate let record = Mutex(Record())
    fileprivate let script: Script
    private let listener = Mutex<(any Channel)?>(nil)

    private init(_ script: @escaping Script) { self.script = script }

    /// Runs a server for the time of `body`.
    ///
    /// - Parameters:
    ///   - maxStreams: the number of its first SETTINGS; `nil` for none.
    ///   - script: what the server does about each request.
    static func with<Value>(
        _ certificate: PushCertificate, maxStreams: Int? = 100, _ script: @escaping Script,
        _ body: (FakeHTTP2Server) async throws -> Value
    ) async throws -> Value {
        let server = FakeHTTP2Server(script)
        let tls = try certificate.context(["h2"])
        return try await FakeListener.with { channel in
            try server.configure(channel, tls, maxStreams: maxStreams)
        } connections: {
            server.record.withLock { $0.channels }
        } run: { listener in
            server.listener.withLock { $0 = listener }
            return try await body(server)
        }
    }

    private func configure(_ channel: any Channel, _ tls: NIOSSLContext, maxStreams: Int?) throws {
        let settings = maxStreams.map { [HTTP2Setting(parameter: .maxConcurrentStreams, value: $0)] } ?? []
        let gate = Gate()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(NIOSSLServerHandler(context: tls))
        try pipeline.addHandler(gate)
        // Answers may have a wrong length.
        try pipeline.addHandler(
            NIOHTTP2Handler(mode: .server, initialSettings: settings, contentLengthValidation: .disabled))
        try pipeline.addHandler(FakeHTTP2Handler(server: self, gate: gate))
    }

    var port: Int { listener.withLock { $0 }?.localAddress?.port ?? 0 }
    var requests: [Request] { record.withLock { $0.requests } }
    var connections: Int { record.withLock { $0.channels.count } }
    var openConnections: Int { record.withLock { $0.openConnections } }
    var maxInFlight: Int { record.withLock { $0.maxInFlight } }
    var resets: Int { record.withLock { $0.resets } }
    var pings: Int { record.withLock { $0.pings } }

    /// Does something that no request asks for.
    func perform(_ steps: [Step], connection: Int = 0, stream: Int = 0) {
        let channel = record.withLock { $0.channels[connection] }
        channel.pipeline.fireUserInboundEventTriggered(Command(stream: stream, steps: steps))
    }

    /// Answers a request that waits.
    func answer(_ request: Request, _ status: Int = 201) {
        perform([.answer(status)], connection: request.connection, stream: request.stream)
    }
}

/// Drops what the server writes, once it is shut.
private final class Gate: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var isShut = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isShut { promise?.succeed() } else { context.write(data, promise: promise) }
    }
}

private final class FakeHTTP2Handler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let server: FakeHTTP2Server
    private let gate: Gate
    private var connection = 0
    private var arriving: [HTTP2StreamID: (headers: HPACKHeaders, body: [UInt8])] = [:]
    private var open: Set<HTTP2StreamID> = []
    /// The client may not know it yet, and open streams, which NIO reports as an error.
    private var hasGoneAway = false

    init(server: FakeHTTP2Server, gate: Gate) {
        self.server = server
        self.gate = gate
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        connection = server.record.withLock { record in
            record.channels.append(channel)
            record.openConnections += 1
            return record.channels.count - 1
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        server.record.withLock { $0.openConnections -= 1 }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let part):
            arriving[frame.streamID] = (part.headers, [])
            if part.endStream { finish(frame.streamID, context) }
        case .data(let part):
            if case .byteBuffer(let bytes) = part.data {
                arriving[frame.streamID]?.body.append(contentsOf: bytes.readableBytesView)
            }
            if part.endStream { finish(frame.streamID, context) }
        case .rstStream: server.record.withLock { $0.resets += 1 }
        case .ping(_, ack: false): server.record.withLock { $0.pings += 1 }
        default: break
        }
    }

    private func finish(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard let parts = arriving.removeValue(forKey: id) else { return }
        open.insert(id)
        let request = server.record.withLock { record in
            let request = FakeHTTP2Server.Request(
                connection: connection, number: record.requests.count, stream: Int(id), headers: parts.headers,
                body: parts.body)
            record.requests.append(request)
            record.inFlight += 1
            record.maxInFlight = max(record.maxInFlight, record.inFlight)
            return request
        }
        perform(server.script(request), on: id, context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let command as FakeHTTP2Server.Command: perform(command.steps, on: HTTP2StreamID(command.stream), context)
        case let event as StreamClosedEvent:
            if open.remove(event.streamID) != nil { server.record.withLock { $0.inFlight -= 1 } }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func perform(_ steps: [FakeHTTP2Server.Step], on id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        for step in steps { perform(step, on: id, context) }
        context.flush()
    }

    private func perform(_ step: FakeHTTP2Server.Step, on id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) {
            context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
        }
        switch step {
        case .answer(let status, let fields, let body, let ends):
            let headers = HPACKHeaders([(":status", "\(status)")] + fields)
            write(.headers(.init(headers: headers, endStream: ends && body.isEmpty)), on: id)
            if !body.isEmpty {
                write(.data(.init(data: .byteBuffer(ByteBuffer(bytes: body)), endStream: ends)), on: id)
            }
        case .data(let body, let ends):
            write(.data(.init(data: .byteBuffer(ByteBuffer(bytes: body)), endStream: ends)), on: id)
        case .reset(let code): write(.rstStream(code), on: id)
        case .goAway(let last, let code, let text):
            if hasGoneAway { return }
            let data = ByteBuffer(string: text)
            hasGoneAway = true
            write(.goAway(lastStreamID: HTTP2StreamID(last), errorCode: code, opaqueData: data), on: .rootStream)
        case .settings(let maxStreams):
            let setting = HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams)
            write(.settings(.settings([setting])), on: .rootStream)
        case .silence: gate.isShut = true
        case .close:
            context.flush()
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !hasGoneAway { context.close(promise: nil) }
    }
}
