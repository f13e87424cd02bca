import ServiceLifecycle

/// A service that may be done before its turn to stop comes: it idles then, for a service group takes one that returns
/// early for failed.
struct IdlesUntilShutdown<Base: Service>: Service {
    private let base: Base

    init(_ base: Base) { self.base = base }

    func run() async throws {
        try await base.run()
        try await gracefulShutdown()
    }
}

/// A service that also tells another part when its turn to stop has come, before it has stopped.
struct TellingShutdown<Base: Service>: Service {
    private let base: Base
    private let tell: @Sendable () -> Void

    init(_ base: Base, tell: @escaping @Sendable () -> Void) {
        self.base = base
        self.tell = tell
    }

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await base.run()
        } onGracefulShutdown: {
            tell()
        }
    }
}
