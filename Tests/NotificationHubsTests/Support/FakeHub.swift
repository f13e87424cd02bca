import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A hub that records what it gets, byte for byte, and answers as a script says.
final class FakeHub: Sendable {
    /// What to do for one request, in order.
    enum Step: Sendable {
        case write(String)
        case wait(TimeAmount)
        /// Ends the connection in order.
        case close
        /// Breaks the connection (RST).
        case reset
    }

    struct Request: Sendable {
        /// The whole request as it came.
        var raw: String
        /// The number of the connection, from 0.
        var connection: Int
        /// The number of the request among all, from 0.
        var number: Int

        var headLines: [Substring] { raw.components(before: "\r\n\r\n").split(separator: "\r\n") }

        var body: Substring { raw.firstRange(of: "\r\n\r\n").map { raw[$0.upperBound...] } ?? "" }

        func header(_ name: String) -> String? {
            let line = headLines.dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
            return line.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    typealias Script = @Sendable (Request) -> [Step]

    struct Record: Sendable {
        var requests: [Request] = []
        var connections = 0
        var openConnections = 0
        var inFlight = 0
        var maxInFlight = 0
    }

    let record = Mutex(Record())
    let port: Int
    private let channel: any Channel

    fileprivate init(_ script: @escaping Script, tls: NIOSSLContext?) async throws {
        let box = HubBox()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(FakeHubHandler(box: box, script: script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        box.hub.withLock { $0 = self }
    }

    fileprivate func stop() async throws { try await channel.close() }

    var requests: [Request] { record.withLock { $0.requests } }
    var connections: Int { record.withLock { $0.connections } }
    var openConnections: Int { record.withLock { $0.openConnections } }
    var maxInFlight: Int { record.withLock { $0.maxInFlight } }

    /// A hub's answer to a send that it has taken.
    static func created(_ id: String = "ID-1") -> Step {
        .write(
            "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nContent-Type: application/xml; charset=utf-8\r\n"
                + "Location: https://ns.servicebus.windows.net/hub/messages/\(id)?api-version=2020-06\r\n\r\n")
    }

    static func answer(_ status: String, _ headers: String = "", body: String = "") -> Step {
        .write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }
}

/// Lets the handlers find their hub, which is made after them.
private final class HubBox: Sendable {
    let hub = Mutex<FakeHub?>(nil)
}

/// Runs a fake hub for the time of `body`.
func withFakeHub<Result: Sendable>(
    _ script: @escaping FakeHub.Script, tls: NIOSSLContext? = nil, _ body: (FakeHub) async throws -> Result
) async throws -> Result {
    let hub = try await FakeHub(script, tls: tls)
    do {
        let result = try await body(hub)
        try await hub.stop()
        return result
    } catch {
        try? await hub.stop()
        throw error
    }
}

extension String {
    fileprivate func components(before separator: String) -> Substring {
        firstRange(of: separator).map { self[..<$0.lowerBound] } ?? self[...]
    }
}

private final class FakeHubHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let box: HubBox
    private let script: FakeHub.Script
    private var received = ByteBuffer()
    private var connection = 0

    init(box: HubBox, script: @escaping FakeHub.Script) {
        self.box = box
        self.script = script
    }

    private var hub: FakeHub? { box.hub.withLock { $0 } }

    func channelActive(context: ChannelHandlerContext) {
        hub?.record.withLock { record in
            connection = record.connections
            record.connections += 1
            record.openConnections += 1
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        hub?.record.withLock { $0.openConnections -= 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        while let raw = takeRequest() {
            let number = hub?.record.withLock { record in
                let request = FakeHub.Request(raw: raw, connection: connection, number: record.requests.count)
                record.requests.append(request)
                record.inFlight += 1
                record.maxInFlight = max(record.maxInFlight, record.inFlight)
                return request.number
            }
            let request = FakeHub.Request(raw: raw, connection: connection, number: number ?? 0)
            perform(script(request)[...], context: context)
        }
    }

    /// One whole request, by its `Content-Length`.
    private func takeRequest() -> String? {
        let text = String(buffer: received)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let head = text[..<end.lowerBound]
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = line.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
        let total = head.utf8.count + 4 + length
        guard received.readableBytes >= total else { return nil }
        return received.readString(length: total)
    }

    private func perform(_ steps: ArraySlice<FakeHub.Step>, context: ChannelHandlerContext) {
        guard let step = steps.first else {
            hub?.record.withLock { $0.inFlight -= 1 }
            return
        }
        let rest = steps.dropFirst()
        switch step {
        case .write(let text):
            if rest.isEmpty { hub?.record.withLock { $0.inFlight -= 1 } }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            if !rest.isEmpty { perform(rest, context: context) }
        case .wait(let time):
            context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.perform(rest, context: context) }
        case .close:
            context.close(promise: nil)
            perform(rest, context: context)
        case .reset:
            // With no time to linger, closing sends RST.
            (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                .assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            perform(rest, context: context)
        }
    }
}
