import CoreMetrics
import HTTPTypes
public import Hummingbird
import Logging
import NIOHTTP1
import SecurePushCore
import Synchronization

/// The outermost middleware of every service: request IDs, the limit of requests in flight, errors as problems, the
/// access log and HTTP metrics.
///
/// ``makeRouter(of:context:)`` adds it before any route, so that it covers them all. Every answer has an
/// `X-Request-Id`: the client's own if that is 1 to 128 visible ASCII characters, else a new one. The request's logger
/// and the `instance` of a problem have the same ID.
public struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    private let service: ServiceContext
    private let instruments: HTTPInstruments
    private let cors: CORSPolicy?
    /// Never told that the problem has ended: a request that did not need the store says nothing about the store.
    private let storeProblem = LastingProblemLog("The store failed a request", end: "The store serves requests again")

    /// Records its metrics in the service's own.
    ///
    /// - Parameter cors: the web apps that may call the API; `nil` for none.
    public init(context: ServiceContext, cors: CORSPolicy? = nil) {
        service = context
        self.cors = cors
        instruments = HTTPInstruments(metrics: context.metrics)
    }

    /// Answers a request by the routes, or with a problem.
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
        // Errors too: without these headers a browser hides the status from the web app.
        cors?.addHeaders(to: &response, for: request)
        // No answer to HEAD has a body, not even an error (RFC 9110, 9.3.2). In HTTP/2 a body would end the connection.
        if request.method == .head { response = response.createHeadResponse() }
        finish(request, response, context: context, elapsed: ContinuousClock.now - start)
        return response
    }

    /// The routes' answer, unless the request is refused before it reaches them.
    @concurrent private func answer(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard HTTPInstruments.knows(request.method) else {
            throw Problem(.notImplemented, "This service does not implement the method.")
        }
        if let answer = cors?.preflight(request, methods: service.routes.methods) { return answer }
        if Operations.paths.contains(request.uri.path) { return try await next(request, context) }
        guard let permit = service.requests.begin() else {
            throw Problem.serviceUnavailable("Too many requests are in flight (HTTP_MAX_IN_FLIGHT).")
        }
        var response = try await next(request, context)
        // A streamed answer is in flight until it is written. A complete one takes no more work from here on.
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
        case is StorageError: storeProblem.failed(Problem.logText(of: error), to: context.logger)
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

extension Problem {
    /// The only mapping of errors to answers. ``ProblemMiddleware`` uses it, and so do answers that contain problems,
    /// such as a batch's. It logs nothing; see ``logText(of:)``.
    ///
    /// - Parameter requestID: the ID of the request (`context.id`), for ``instance``.
    public init(_ error: any Error, requestID: String) {
        switch error {
        case let problem as Problem: self = problem
        case let error as HTTPError: self = Problem(error.status, error.body, headers: error.headers)
        case let error as any HTTPResponseError: self = Problem(error.status)
        case let error as AuthenticationError: self.init(error)
        // The log says what happened to the store, the answer does not.
        case let error as StorageError:
            self = error.isRetriable ? .serviceUnavailable("The store is not available.") : .internalServerError()
        case is CancellationError: self = .serviceUnavailable("The service is shutting down.")
        // A missing payload key is the operator's mistake. The log says so, the answer does not.
        default: self = .internalServerError()
        }
        instance = RequestIdentifier.instance(requestID)
    }

    private init(_ error: AuthenticationError) {
        switch error.code {
        case .unavailable: self = .serviceUnavailable(error.message)
        case .throttled: self = .tooManyRequests(error.message, retryAfter: error.retryAfter ?? .seconds(1))
        default: self = .unauthorized(error.message, challenges: error.challenges)
        }
    }

    /// An error's text for the log. `StorageError` and `PayloadError` are written for operators and contain nothing of
    /// a payload. Of every other error only the type is named, because its text could contain a part of the request.
    public static func logText(of error: any Error) -> String {
        switch error {
        case let error as StorageError: error.description
        case let error as PayloadError: error.description
        default: String(reflecting: Swift.type(of: error))
        }
    }
}

/// `securepush_http_requests_total` and `securepush_http_request_duration_seconds`: one pair for each route, method and
/// status that occurred. Routes are templates, so there are few.
final class HTTPInstruments: Sendable {
    private struct Key: Hashable {
        let route: String
        /// The result of ``methodLabel(_:)``.
        let method: String
        let status: Int
    }

    private struct Pair {
        let requests: Counter
        let duration: Timer
    }

    private let metrics: PrometheusMetrics
    private let pairs = Mutex<[Key: Pair]>([:])

    /// Instruments of the same metrics share their series.
    init(metrics: PrometheusMetrics) { self.metrics = metrics }

    /// Counts one request.
    ///
    /// - Parameters:
    ///   - route: the template, for example `/{hub}/messages`.
    ///   - nanoseconds: from the head of the request to its answer.
    func record(route: String, method: HTTPRequest.Method, status: Int, nanoseconds: Int64) {
        let key = Key(route: route, method: Self.methodLabel(method), status: status)
        let pair = pairs.withLock { pairs in
            if let known = pairs[key] { return known }
            let pair = make(key)
            pairs[key] = pair
            return pair
        }
        pair.requests.increment(by: 1)
        pair.duration.recordNanoseconds(nanoseconds)
    }

    private func make(_ key: Key) -> Pair {
        let labels = [("method", key.method), ("route", key.route), ("status", "\(key.status)")]
        return Pair(
            requests: Counter(label: "securepush_http_requests_total", dimensions: labels, factory: metrics),
            duration: Timer(
                label: "securepush_http_request_duration_seconds", dimensions: labels, preferredDisplayUnit: .seconds,
                factory: metrics))
    }

    /// `other` for unusual methods: clients can invent methods, and each series would be kept for ever.
    static func methodLabel(_ method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options: method.rawValue
        default: "other"
        }
    }

    /// The number of pairs; for tests.
    var count: Int { pairs.withLock { $0.count } }

    /// Whether the method is a standard one (RFC 9110, section 9; PATCH of RFC 5789; QUERY). Of these, a path answers
    /// 405 to those that it does not take. Every other method gets 501 before anything else is done.
    static func knows(_ method: HTTPRequest.Method) -> Bool {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect: true
        default: method.rawValue == "QUERY"
        }
    }
}
