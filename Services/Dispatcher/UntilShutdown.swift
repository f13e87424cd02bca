import ServiceLifecycle

/// A service that may be done before its turn to stop comes: it idles then, for a service group takes one that returns
/// early for failed.
struct UntilShutdown<Base: Service>: Service {
    private let base: Base

    init(_ base: Base) { self.base = base }

    func run() async throws {
        try await base.run()
        try await gracefulShutdown()
    }
}
