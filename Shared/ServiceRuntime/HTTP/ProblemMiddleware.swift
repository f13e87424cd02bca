import HTTPTypes
public import Hummingbird
import Logging
import NIOHTTP1
import SecurePushCore

/// The outermost middleware of every service: request IDs, the limit of requests in flight, errors as problems, the
/// access log and HTTP metrics.
///
/// Added before any route, so that it covers them all (``makeRouter(of:context:)`` does). Every answer carries
/// `X-Request-Id`: the client's own if it is 1 to 128 visible ASCII characters, else a new one; the request's logger
/// and a problem's `instance` have it too.
public struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    private let service: ServiceContext
    private let instruments: HTTPInstruments

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
            response = try await answer(request, context: context, next: next)
        } catch let error as HTTPParserError {
            throw error  // Hummingbird answers it by closing the connection.
        } catch {
            response = answer(to: error, request: request, context: context, identifier: identifier)
        }
        response.headers[.xRequestID] = identifier
        // No answer to HEAD has a body, not even an error (RFC 9110, 9.3.2): by HTTP/2 it would end the connection.
        if request.method == .head { response = response.createHeadResponse() }
        finish(request, response, context: context, elapsed: ContinuousClock.now - start)
        return response
    }

    /// The routes' answer, unless the request is refused before them.
    @concurrent private func answer(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard HTTPInstruments.knows(request.method) else {
            throw Problem(.notImplemented, "This service knows no such method.")
        }
        if Operations.paths.contains(request.uri.path) { return try await next(request, context) }
        guard let permit = service.requests.begin() else {
            throw Problem.serviceUnavailable("Too many requests are in flight (HTTP_MAX_IN_FLIGHT).")
        }
        var response = try await next(request, context)
        // A streamed answer is in flight until it is written; one that is whole takes no more work from here on.
        if response.body.contentLength == nil {
            let body = response.body
            response.body = ResponseBody { writer in
                defer { permit.end() }
                try await body.write(writer)
            }
        } else {
            permit.end()
        }
        return response
    }

    private func answer(
        to error: any Error, request: Request, context: Context, identifier: String
    ) -> Response {
        switch error {
        case is Problem, is any HTTPResponseError, is AuthenticationError, is CancellationError: break
        case is StorageError:
            context.logger.warning(
                "The store failed a request", metadata: [LogKeys.errorMessage: "\(Problem.logText(of: error))"])
        case is PayloadError:
            context.logger.error(
                "A payload could not be sealed or opened",
                metadata: [LogKeys.errorMessage: "\(Problem.logText(of: error))"])
        default:
            context.logger.error(
                "Request failed unexpectedly", metadata: [LogKeys.errorType: "\(Problem.logText(of: error))"])
        }
        var problem = Problem(error, requestID: identifier)
        if (error as? HTTPError)?.status == .notFound, context.endpointPath == "NotFound" {
            let methods = service.routes.methods(of: request.uri.path)
            problem = methods.isEmpty ? .notFound("There is nothing at this path.") : .methodNotAllowed(allow: methods)
            problem.instance = RequestIdentifier.instance(identifier)
        }
        return problem.response
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
                "http.request.method": "\(HTTPInstruments.methodLabel(request.method))", "http.route": "\(route)",
                "http.response.status_code": "\(response.status.code)", "duration_us": "\(nanoseconds / 1000)",
            ])
    }
}
