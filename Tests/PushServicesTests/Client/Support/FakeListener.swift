import NIOCore
import NIOPosix

/// What the servers of these tests listen with.
enum FakeListener {
    /// Listens on loopback for the time of `body`, and then closes all connections.
    ///
    /// - Parameters:
    ///   - configure: adds the handlers of a new connection.
    ///   - connections: those to close.
    static func with<Value>(
        _ configure: @escaping @Sendable (any Channel) throws -> Void, connections: () -> [any Channel],
        run body: (any Channel) async throws -> Value
    ) async throws -> Value {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let value: Value
        do {
            value = try await body(listener)
        } catch {
            for channel in connections() { channel.close(promise: nil) }
            try? await listener.close()
            throw error
        }
        for channel in connections() { channel.close(promise: nil) }
        try await listener.close()
        return value
    }
}
