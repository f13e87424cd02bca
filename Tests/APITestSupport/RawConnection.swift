import NIOCore
import NIOPosix
import Testing

/// A connection that a test writes HTTP to by hand, to send a part, look at the answer, and go on.
package struct RawConnection {
    /// The half that another task may use while this one reads.
    package struct Writer: Sendable {
        fileprivate let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        package func write(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

        /// A chunk of a body (RFC 9112, section 7.1).
        package func writeChunk(_ text: String) async throws {
            try await write(String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n")
        }
    }

    package let writer: Writer
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    /// What came and was not waited for yet.
    private var received: [UInt8] = []

    /// Connects to loopback for the time of the body.
    package static func with(port: Int?, _ body: (inout RawConnection) async throws -> Void) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "localhost", port: try #require(port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(writer: Writer(outbound: outbound), inbound: inbound.makeAsyncIterator())
            try await body(&connection)
        }
    }

    package func write(_ text: String) async throws { try await writer.write(text) }

    package func writeChunk(_ text: String) async throws { try await writer.writeChunk(text) }

    /// Reads up to this text, however long that takes.
    ///
    /// - Returns: what came until the text's end.
    package mutating func read(until end: String) async throws -> String {
        let pattern = Array(end.utf8)
        var start = 0
        while true {
            // Bytes, for CR LF is one character; and only what is new, for answers are long.
            while start + pattern.count <= received.count {
                if received[start..<start + pattern.count].elementsEqual(pattern) {
                    let found = String(decoding: received[..<(start + pattern.count)], as: UTF8.self)
                    received.removeFirst(start + pattern.count)
                    return found
                }
                start += 1
            }
            guard let part = try await inbound.next(isolation: #isolation) else {
                let text = String(decoding: received.suffix(1000), as: UTF8.self)
                Issue.record("The connection was closed before \(end.debugDescription); there was: \(text)")
                throw CancellationError()
            }
            received += part.readableBytesView
        }
    }
}
