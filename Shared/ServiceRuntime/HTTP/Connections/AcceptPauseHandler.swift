import Logging
import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Stops accepting for a second when no descriptor or memory is left for a connection.
///
/// NIO's own back-off does not: the failed read is still wanted, the listening socket stays readable, and the event
/// loop spins. The connections wait in the kernel's queue meanwhile.
final class AcceptPauseHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Channel

    private let logger: Logger
    private var isPaused = false
    private var nextWarning = NIODeadline.now()

    init(logger: Logger) { self.logger = logger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) {
            pause(context, error)
        }
        context.fireErrorCaught(error)
    }

    private func pause(_ context: ChannelHandlerContext, _ error: IOError) {
        let now = NIODeadline.now()
        if now >= nextWarning {
            nextWarning = now + .minutes(1)
            logger.warning("Connections cannot be accepted; they wait", metadata: [LogKeys.errorMessage: "\(error)"])
        }
        guard !isPaused else { return }
        isPaused = true
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .seconds(1)) {
            let (handler, context) = bound.value
            handler.isPaused = false
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
