import HTTPTypes
public import Hummingbird
import Logging
import NIOHTTP1
import SecurePushCore

/// The outermost middleware of every service: request IDs, errors as problems, the access log and HTTP metrics.
///
/// Added before any route, so that it covers them all (``makeRouter(of:context:)`` does). Every answer carries
/// `X-Request-Id`: the client's own if it is 1 to 128 visible ASCII characters, else a new one; the request's logger
/// and a problem's `instance` have it too.
public struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    private let service: ServiceContext
    private let instruments: HTTPInstruments
    /// It is never told to be over: a request that did not need the store says nothing about it.
    private let storeProblem = LastingProblemLog("The store failed a request", end: "The store serves requests again")

    public init(context: ServiceContext) {
        service = context
        instruments = HTTPInstruments(metrics: context.metrics)
    }

    @concurrent public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let identifier = RequestIdentifier.of(request.headers)
        var context = context
        // Hummingbird's own key: `context.id` reads it, so there is one ID and one entry.
        context.logger[metadataKey: LogKeys.requestID] = .string(identifier)
        if let trace = request.headers.traceContext {
            context.logger[metadataKey: TraceContext.LogKey.traceID] = .string(trace.traceID)
            context.logger[metadataKey: TraceContext.LogKey.spanID] = .string(trace.spanID)
        }
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            throw error  // Hummingbird answers it by closing the connection.
        } catch {
            response = answer(to: error, request: request, context: context, identifier: identifier)
        }
        response.headers[.xRequestID] = identifier
        finish(request, response, context: context, elapsed: ContinuousClock.now - start)
        return response
    }

    private func answer(
        to error: any Error, request: Request, context: Context, identifier: String
    ) -> Response {
        var problem = problem(for: error, request: request, context: context)
        problem.instance = RequestIdentifier.instance(identifier)
        return problem.response
    }

    private func problem(for error: any Error, request: Request, context: Context) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as HTTPError: return problem(for: error, request: request, context: context)
        case let error as any HTTPResponseError: return Problem(error.status)
        case let error as AuthenticationError: return error.problem
        case let error as StorageError:
            storeProblem.failed("\(error)", to: context.logger)
            return error.problem
        case is CancellationError: return .serviceUnavailable("The service is shutting down.")
        default:
            // The type only: a description could hold something of the request.
            context.logger.error(
                "Request failed unexpectedly", metadata: [LogKeys.errorType: "\(String(reflecting: type(of: error)))"])
            return .internalServerError()
        }
    }

    private func problem(for error: HTTPError, request: Request, context: Context) -> Problem {
        if error.status == .notFound, context.endpointPath == "NotFound" {
            let methods = service.routes.methods(of: request.uri.path)
            if !methods.isEmpty { return .methodNotAllowed(allow: methods) }
        }
        return Problem(error.status, error.body, headers: error.headers)
    }

    private func finish(_ request: Request, _ response: Response, context: Context, elapsed: Duration) {
        let (seconds, attoseconds) = elapsed.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let route = context.endpointPath ?? "none"
        instruments.record(
            route: route, method: request.method, status: response.status.code, nanoseconds: nanoseconds)
        guard context.logger.logLevel <= .debug else { return }
        context.logger.debug(
            "Request answered",
            metadata: [
                "http.request.method": "\(request.method.rawValue)", "http.route": "\(route)",
                "http.response.status_code": "\(response.status.code)", "duration_us": "\(nanoseconds / 1000)",
            ])
    }
}
