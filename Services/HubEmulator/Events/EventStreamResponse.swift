import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Answers with an event stream that lasts until the client goes or the service drains.
///
/// An event is written when the connection takes it. What waits meanwhile is bounded by ``EventQueue``.
enum EventStreamResponse {
    /// How often a comment is sent, so that proxies keep the connection and we notice a dead one.
    static let heartbeat = Duration.seconds(15)
    /// How long the end of a stream may take to be written before the connection is closed: a client that does not read
    /// would hold it, and with it the shutdown, for ever.
    static let maxEnding = TimeAmount.seconds(1)

    /// - Parameter open: makes the queue; called once the answer's head has been written.
    static func make(
        for request: Request, on channel: any Channel, heartbeat: Duration = heartbeat,
        open: @escaping @Sendable () -> EventQueue
    ) -> Response {
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        let body = ResponseBody { writer in
            let queue = open()
            defer { queue.finish() }
            try await withGracefulShutdownHandler {
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await write(queue, heartbeat, to: &writer)
                } onInboundClosed: {
                    end(queue, channel)
                }
            } onGracefulShutdown: {
                end(queue, channel)
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    private static func end(_ queue: EventQueue, _ channel: any Channel) {
        queue.finish()
        channel.eventLoop.scheduleTask(in: maxEnding) { channel.close(promise: nil) }
    }

    @concurrent private static func write(
        _ queue: EventQueue, _ heartbeat: Duration, to writer: inout any ResponseBodyWriter
    ) async throws {
        try await writer.write(ByteBuffer(string: ": connected\n\n"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                while true {
                    try await Task.sleep(for: heartbeat)
                    queue.putHeartbeat()
                }
            }
            for await _ in queue.rings {
                while let event = queue.take() { try await writer.write(event) }
            }
        }
    }
}
