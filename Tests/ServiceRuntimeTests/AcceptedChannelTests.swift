import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import StackKit
import Synchronization
import Testing

@testable import ServiceRuntime

/// What a server has accepted and hands to nobody, because it ends meanwhile.
@Suite struct AcceptedChannelTests {
    /// In a process of its own: without the reference that the channel holds, NIO traps.
    @Test func `A connection that nobody handles is closed`() async {
        await #expect(processExitsWith: .success) {
            let connections = HTTPConnections(limits: try HTTPLimits().resolved(), context: .test())
            let server = GuardedHTTP1Channel(
                http1: HTTP1Channel(responder: { _, _, _ in }), connections: connections)
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            for isActiveBefore in [false, true] {
                let channel = EmbeddedChannel()
                if isActiveBefore { channel.connect(to: address, promise: nil) }
                _ = server.setup(channel: channel, logger: Logger(label: "test"))
                channel.embeddedEventLoop.run()
                // As NIO's own server does: it is opened if nobody has closed it.
                if connections.count > 0 { channel.connect(to: address, promise: nil) }
                guard connections.count == 0 else { exit(1) }
            }
        }
    }

    /// A task drops it, and the event loop closes it later: meanwhile only the channel holds the reference.
    @Test(.timeLimit(.minutes(2))) func `A connection that a task drops is closed`() async {
        await #expect(processExitsWith: .success) {
            let connections = HTTPConnections(limits: try HTTPLimits().resolved(), context: .test())
            let server = GuardedHTTP1Channel(http1: HTTP1Channel(responder: { _, _, _ in }), connections: connections)
            let accepted = Mutex<AcceptedChannel?>(nil)
            let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    server.setup(channel: channel, logger: Logger(label: "test")).map { value in
                        accepted.withLock { $0 = value }
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            guard let address = listener.localAddress else { exit(1) }
            for _ in 0..<20 {
                let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(to: address).get()
                guard try await eventually({ accepted.withLock { $0 != nil } }) else { exit(1) }
                accepted.withLock { $0 = nil }
                try await client.closeFuture.get()
            }
        }
    }
}
