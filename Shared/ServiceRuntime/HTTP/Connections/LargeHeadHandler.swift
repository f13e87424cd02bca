import NIOCore

/// Lets a large head be the first one of an HTTP/2 connection.
///
/// NIO takes heads of 16 KiB until the client has acknowledged our SETTINGS, which allow more, and ends the connection
/// for a larger one. Clients send their first request before they have read our SETTINGS. So a large head waits here
/// until the acknowledgement has arrived, which takes one more round trip, and is passed on after it. The
/// acknowledgement is about SETTINGS only, so its place among the other frames has no other meaning (RFC 9113, section
/// 6.5.3). The wait is bounded: anybody can cause it, and no total counts the bytes.
///
/// Its place is before NIO's handler of HTTP/2, on a server.
final class LargeHeadHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The header of a frame (RFC 9113, section 4.1).
    private struct Frame {
        static let headerLength = 9
        let length: Int
        let type: UInt8
        let flags: UInt8

        var end: Int { Self.headerLength + length }
        var isAcknowledgement: Bool { type == 4 && flags & 1 != 0 && length == 0 }
        /// A HEADERS frame that alone has fewer bytes is decoded to less than 16 KiB, unless it repeats fields.
        var isOfLargeHead: Bool { type == 1 && (length > 8192 || flags & 4 == 0) }
    }

    /// More than a large head and the first window of its body, of 64 KiB each.
    static let maxHeld = 136 * 1024
    private static let prefaceLength = 24

    /// The beginning of a frame's header; with a large head, everything from there on.
    private var waiting = ByteBuffer()
    /// The bytes up to the next frame.
    private var passing = prefaceLength
    /// In the bytes that wait, the place of the next frame; `nil` while no large head has arrived.
    private var next: Int?
    private var isDone = false
    private let timeout: TimeAmount
    private var wakeUp: Scheduled<Void>?

    /// - Parameter timeout: how long a large head waits.
    init(timeout: TimeAmount = .seconds(10)) { self.timeout = timeout }

    func handlerRemoved(context: ChannelHandlerContext) { wakeUp?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isDone { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        // Otherwise it would hold all that a client sends that never acknowledges.
        waiting.discardReadBytes()
        waiting.writeBuffer(&bytes)
        while !isDone, step(context) {}
        if isDone || waiting.readableBytes > Self.maxHeld { return finish(context) }
        guard next != nil, wakeUp == nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        wakeUp = context.eventLoop.scheduleTask(in: timeout) {
            let (handler, context) = bound.value
            handler.finish(context)
            context.fireChannelReadComplete()
        }
    }

    /// - Returns: whether there is more to do with these bytes.
    private func step(_ context: ChannelHandlerContext) -> Bool {
        if let place = next {
            guard let frame = frame(at: place) else { return false }
            guard frame.isAcknowledgement else {
                next = place + frame.end
                return true
            }
            let before = waiting.readSlice(length: place)
            pass(frame.end, context)
            if let before { context.fireChannelRead(wrapInboundOut(before)) }
            isDone = true
            return false
        }
        if passing > 0 {
            passing -= pass(min(passing, waiting.readableBytes), context)
            return passing == 0
        }
        guard let frame = frame(at: 0) else { return false }
        if frame.isOfLargeHead { next = 0 } else { passing = frame.end }
        isDone = frame.isAcknowledgement
        return true
    }

    private func frame(at place: Int) -> Frame? {
        let start = waiting.readerIndex + place
        guard waiting.readableBytes - place >= Frame.headerLength,
            let high = waiting.getInteger(at: start, as: UInt16.self),
            let low = waiting.getInteger(at: start + 2, as: UInt8.self),
            let type = waiting.getInteger(at: start + 3, as: UInt8.self),
            let flags = waiting.getInteger(at: start + 4, as: UInt8.self)
        else { return nil }
        return Frame(length: Int(high) << 8 | Int(low), type: type, flags: flags)
    }

    @discardableResult private func pass(_ length: Int, _ context: ChannelHandlerContext) -> Int {
        guard length > 0, let bytes = waiting.readSlice(length: length) else { return 0 }
        context.fireChannelRead(wrapInboundOut(bytes))
        return length
    }

    private func finish(_ context: ChannelHandlerContext) {
        isDone = true
        wakeUp?.cancel()
        pass(waiting.readableBytes, context)
        waiting = ByteBuffer()
    }
}
