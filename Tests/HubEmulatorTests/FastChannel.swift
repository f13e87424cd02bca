import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServiceRuntime

@testable import HubEmulator

/// A connection without a network: HTTP's decoder and encoder, the handler under test, and what would be the routes.
struct FastChannel {
    let channel = EmbeddedChannel()
    let state: EmulatorState
    private let reads = ReadCounter()
    private let end = EventSink()

    init(idleTimeout: Duration = .seconds(60)) throws {
        var http = HTTPConfiguration(port: 0)
        http.idleTimeout = idleTimeout
        let configuration = EmulatorConfiguration(http: http, connectionString: testConnectionString)
        let context = ServiceContext(
            name: "hub-emulator", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            metrics: PrometheusMetrics())
        state = try EmulatorState(configuration, logger: context.logger)
        let router = HubEmulator.makeRouter(configuration, state: state, context: context)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(reads)
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try HubEmulator.makeFront(configuration, router: router, state: state, context: context)?(channel)
        try pipeline.addHandler(end)
    }

    /// How often bytes were asked of the network.
    var readCount: Int { reads.count }

    /// What the routes got, in a few words: `POST /hub/messages`, the body's size, `end`, and events.
    var forwarded: [String] { end.parts }

    func receive(_ text: String) throws {
        _ = try channel.writeInbound(ByteBuffer(string: text))
    }

    /// The texts that were written since the last time, one for each write.
    func written() throws -> [String] {
        var texts: [String] = []
        while let data = try channel.readOutbound(as: IOData.self) {
            if case .byteBuffer(let buffer) = data { texts.append(String(buffer: buffer)) }
        }
        return texts.filter { !$0.isEmpty }
    }

    /// What the routes answer.
    func answer() throws {
        try channel.writeOutbound(
            HTTPServerResponsePart.head(
                HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = IOData

        var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    private final class EventSink: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        var parts: [String] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): parts.append("\(head.method) \(head.uri)")
            case .body(let body): parts.append("\(body.readableBytes)")
            case .end: parts.append("end")
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            parts.append(event is ChannelShouldQuiesceEvent ? "quiesce" : "event")
        }

        func channelInactive(context: ChannelHandlerContext) { parts.append("inactive") }
    }
}

/// A send, byte for byte.
struct RawSend {
    var method = "POST"
    var target = "/hub/messages?api-version=2020-06"
    var version = "HTTP/1.1"
    var format: String? = "apple"
    var tags: String? = "t"
    var headers: [String] = []
    var body = #"{"aps":{}}"#
    var authorization = TestToken.make()
    /// Instead of the length.
    var framing: String?

    var text: String {
        var lines = ["\(method) \(target) \(version)", "Host: 127.0.0.1:8090", "Authorization: \(authorization)"]
        lines += headers
        if let format { lines.append("ServiceBusNotification-Format: \(format)") }
        if let tags { lines.append("ServiceBusNotification-Tags: \(tags)") }
        lines.append(framing ?? "Content-Length: \(body.utf8.count)")
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
