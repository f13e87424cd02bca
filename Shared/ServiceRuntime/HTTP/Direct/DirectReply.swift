package import NIOCore

/// Ends a request that a ``DirectRoute`` has taken. Call it exactly once, on any thread.
package struct DirectReply: Sendable {
    private let handler: NIOLoopBound<DirectRouteHandler>
    private let eventLoop: any EventLoop
    /// The connection of the request.
    package let channel: any Channel
    /// The request that it belongs to.
    private let number: UInt64

    init(_ handler: DirectRouteHandler, number: UInt64, on channel: any Channel) {
        self.channel = channel
        eventLoop = channel.eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        self.number = number
    }

    /// Sends the response, or the problem of an error: the same as if a route had thrown it.
    package func callAsFunction(_ result: Result<CompleteResponse, any Error>) {
        onEventLoop { handler.value.finish(number, result) }
    }

    /// Sends the result of a function: its response, or the answer for its error.
    package func callAsFunction(_ body: () throws -> CompleteResponse) { self(Result(catching: body)) }

    /// Goes on with the request on its event loop, for the steps after a call of the store.
    package func onEventLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }
}
