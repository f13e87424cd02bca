import Hummingbird
import HummingbirdTesting
import Logging
import ServiceRuntime

extension ServiceContext {
    /// A context whose log goes nowhere, unless another is given; it keeps metadata, where `RequestContext.id` is.
    static func test(logger: Logger = LineSink().logger(level: .info)) -> ServiceContext {
        ServiceContext(name: "test", logger: logger, metrics: PrometheusMetrics())
    }
}

/// Runs the body with a client of an application that has the routes given.
func withApplication<Result>(
    context: ServiceContext = .test(), routes: (Router<BasicRequestContext>) -> Void,
    _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Result
) async throws -> Result {
    let router = makeRouter(of: BasicRequestContext.self, context: context)
    routes(router)
    let application = try makeHTTPApplication(
        router: router, configuration: HTTPConfiguration(port: 0), context: context)
    return try await application.test(.router) { try await body($0) }
}
