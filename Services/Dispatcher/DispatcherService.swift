package import ServiceConfiguration
package import ServiceLifecycle
package import ServiceRuntime

/// The dispatcher consumes IDs from the broker and wakes the recipients' devices through the hub. Any number of
/// dispatchers may run.
package enum DispatcherService: ServiceProgram {
    package static let name = "dispatcher"
    package static let summary = "Consumes notification IDs and fans them out through the hub."

    package static func read(_ reader: inout ConfigurationReader) -> DispatcherConfiguration? {
        DispatcherConfiguration(&reader)
    }

    package static func build(
        _ configuration: DispatcherConfiguration, context: ServiceContext
    ) async throws -> [any Service] {
        try await buildDispatcher(configuration, context: context)
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
