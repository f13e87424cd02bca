import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The connection was refused and is closed.
struct ConnectionRefused: Error {}

/// Hummingbird's HTTP/1.1 channel within the listener's limits.
struct GuardedHTTP1Channel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http1: HTTP1Channel
    let connections: HTTPConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let handler = connections.admit(channel, isTLS: false) else {
            return channel.eventLoop.makeFailedFuture(ConnectionRefused())
        }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return http1.setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async { await http1.handle(value: value, logger: logger) }
}

/// Hummingbird's channel for HTTPS within the listener's limits; each connection gets the newest certificate.
final class GuardedTLSChannel: ServerChildChannel {
    typealias Value = HTTP2UpgradeChannel.Value

    private let certificates: CertificateStore
    private let connections: HTTPConnections
    private let make: @Sendable (TLSConfiguration) throws -> HTTP2UpgradeChannel
    private let newest: Mutex<(channel: HTTP2UpgradeChannel, generation: Int)>

    init(
        certificates: CertificateStore, connections: HTTPConnections,
        make: @escaping @Sendable (TLSConfiguration) throws -> HTTP2UpgradeChannel
    ) throws {
        self.certificates = certificates
        self.connections = connections
        self.make = make
        let (configuration, generation) = certificates.current
        newest = Mutex((try make(configuration), generation))
    }

    private func current() throws -> HTTP2UpgradeChannel {
        let (configuration, generation) = certificates.current
        let known = newest.withLock { $0 }
        if known.generation == generation { return known.channel }
        let channel = try make(configuration)
        newest.withLock { $0 = (channel, generation) }
        return channel
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let handler = connections.admit(channel, isTLS: true) else {
            return channel.eventLoop.makeFailedFuture(ConnectionRefused())
        }
        let upgrade: HTTP2UpgradeChannel
        do {
            upgrade = try current()
        } catch {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        return upgrade.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let tls = try pipeline.handler(type: NIOSSLServerHandler.self)
            try pipeline.addHandler(bound.value, position: .after(tls))
            return value
        }
    }

    /// Which of the certificates a connection began with is of no account here.
    func handle(value: Value, logger: Logger) async {
        await newest.withLock { $0.channel }.handle(value: value, logger: logger)
    }
}
