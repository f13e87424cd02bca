import ServiceLifecycle
import ServiceRuntime

/// The dispatcher consumes IDs from the broker and wakes the recipients' devices through the hub. Any number of
/// dispatchers may run.
@main
struct Dispatcher {
    static func main() async {
        await ServiceMain.run(
            name: "dispatcher",
            summary: "Consumes notification IDs and fans them out through the hub.",
            read: { DispatcherConfiguration(&$0) },
            build: { try await buildDispatcher($0, context: $1) })
    }
}

/// A service that may end before its turn to stop. It then idles, because a service group treats a service that returns
/// early as failed.
struct KeepAliveService<Base: Service>: Service {
    private let base: Base

    init(_ base: Base) { self.base = base }

    func run() async throws {
        try await base.run()
        try await gracefulShutdown()
    }
}

/// A service that tells another part when its turn to stop has come, before it has stopped.
struct ShutdownObserver<Base: Service>: Service {
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
