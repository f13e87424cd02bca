import ServiceLifecycle

/// The service of a store that needs none: it only waits, for a service that returns ends its group.
struct IdleService: Service {
    func run() async throws {
        try await gracefulShutdown()
    }
}
