import HummingbirdCore
import Logging
import NIOCore

/// Hummingbird's HTTP/1.1 channel, with a handler of the service's own in front of the router.
struct FrontedHTTP1Channel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http1: HTTP1Channel
    let onConnection: @Sendable (any Channel) throws -> Void

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http1.setup(channel: channel, logger: logger).flatMapThrowing { value in
            try onConnection(channel)
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        await http1.handle(value: value, logger: logger)
    }
}
