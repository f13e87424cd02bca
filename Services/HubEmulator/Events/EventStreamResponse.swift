import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Answers with an event stream that lasts until the client goes or the service drains.
enum EventStreamResponse {
    /// How often a comment is sent, so that proxies keep the connection and we notice a dead one.
    static let heartbeat = Duration.seconds(15)

    /// - Parameter open: makes the stream; called once the answer's head is on its way.
    static func make(
        for request: Request, heartbeat: Duration = heartbeat,
        open: @escaping @Sendable () -> AsyncStream<ServerSentEvent>
    ) -> Response {
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        let body = ResponseBody { writer in
            let events = open()
            let (buffers, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
            try await withGracefulShutdownHandler {
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await write(events, heartbeat, buffers, continuation, to: &writer)
                } onInboundClosed: {
                    continuation.finish()
                }
            } onGracefulShutdown: {
                continuation.finish()
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    @concurrent private static func write(
        _ events: AsyncStream<ServerSentEvent>, _ heartbeat: Duration, _ buffers: AsyncStream<ByteBuffer>,
        _ continuation: AsyncStream<ByteBuffer>.Continuation, to writer: inout any ResponseBodyWriter
    ) async throws {
        try await writer.write(ByteBuffer(string: ": connected\n\n"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for await event in events { continuation.yield(event.buffer) }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: heartbeat)
                    continuation.yield(ByteBuffer(string: ": heartbeat\n\n"))
                }
            }
            for await buffer in buffers { try await writer.write(buffer) }
        }
    }
}
