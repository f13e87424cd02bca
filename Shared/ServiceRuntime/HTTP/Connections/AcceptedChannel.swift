import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A connection, or a stream of HTTP/2, from its acceptance until it is handled.
///
/// A server that ends drops connections that it has accepted and not yet handed to a task. NIO traps if that drops the
/// last reference to an open channel's writer: `Deinited NIOAsyncWriter without calling finish()`. So the channel holds
/// one itself until it has closed, and is closed as soon as nobody can handle it any more.
final class AcceptedChannel: ServerChildChannelValue {
    private let messages: HTTP1Channel.Value
    private let isHandled = Atomic(false)

    var channel: any Channel { messages.channel }

    init(_ messages: HTTP1Channel.Value) {
        self.messages = messages
        messages.channel.closeFuture.whenComplete { _ in withExtendedLifetime(messages) {} }
    }

    deinit {
        if !isHandled.load(ordering: .relaxed) { channel.close(promise: nil) }
    }

    /// Returns when the channel has closed.
    func handle(by http1: HTTP1Channel, logger: Logger) async {
        isHandled.store(true, ordering: .relaxed)
        await http1.handle(value: messages, logger: logger)
    }
}
