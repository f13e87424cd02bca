import Hummingbird
import ServiceLifecycle
import TestSupport
import Testing

@testable import ServiceRuntime

/// A listener with limits of its own.
struct LimitedServer {
    let port: Int
    let context: ServiceContext

    /// How many connections a limit has ended.
    func closed(_ reason: HTTPConnections.Reason) -> Int {
        let name = #"securepush_http_connections_closed_total{reason="\#(reason.rawValue)"} "#
        let line = context.metrics.exposition().split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? -1
    }

    func connect() throws -> RawConnection { try RawConnection(port: port) }

    /// Waits until this many connections are open: connections made at once may be admitted in any order.
    func expectConnections(_ count: Int) async throws {
        try await expectEventually {
            context.metrics.exposition().contains("securepush_http_connections \(count)\n")
        }
    }
}

/// Runs the body with a server that has `/refused`, `/collected`, the paths of operators and the routes given.
func withLimitedServer(
    isTLS: Bool = false, _ change: (inout HTTPLimits) -> Void,
    routes: (Router<ServiceRequestContext>) -> Void = { _ in }, _ body: (LimitedServer) async throws -> Void
) async throws {
    let context = ServiceContext.test()
    let router = makeRouter(of: ServiceRequestContext.self, context: context)
    router.addOperations(readiness: [], context: context)
    router.post("/refused") { _, _ -> String in throw Problem.unauthorized("Who are you?", challenges: ["Basic"]) }
    router.post("/collected") { request, _ in "\(try await request.body.collect(upTo: 1 << 24).readableBytes) bytes" }
    routes(router)
    var configuration = HTTPConfiguration(port: 0)
    change(&configuration.limits)
    func run() async throws {
        try await withHTTPService(router, configuration, context) { port, _ in
            try await body(LimitedServer(port: port, context: context))
        }
    }
    guard isTLS else { return try await run() }
    try await withCertificate { tls in
        configuration.tls = tls
        try await run()
    }
}

/// Runs the body with a service on a free port, and drains the service afterwards.
func withHTTPService<Context: RequestContext>(
    _ router: Router<Context>, direct: DirectRoutes? = nil, _ configuration: HTTPConfiguration,
    _ context: ServiceContext, _ body: (_ port: Int, ServiceGroup) async throws -> Void
) async throws where Context.Source == ApplicationRequestContextSource {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let service = try makeHTTPService(
        router: router, direct: direct, configuration: configuration, context: context,
        onListening: { port.yield($0) })
    let group = ServiceGroup(configuration: .init(services: [service], logger: context.logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        let bound = try #require(await ports.first { _ in true })
        do { try await body(bound, group) } catch { Issue.record(error) }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}
