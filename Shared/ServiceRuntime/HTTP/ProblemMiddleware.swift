import Domain
import Foundations
import HTTPTypes
package import Hummingbird
import Logging
import NIOHTTP1

/// The outermost middleware of every service: request IDs, the limit of requests in flight, errors as problems, the
/// access log and HTTP metrics.
///
/// ``makeRouter(of:context:)`` adds it before any route, so that it covers them all. Every answer has an
/// `X-Request-Id`: the client's own if that is 1 to 128 visible ASCII characters, else a new one. The request's logger
/// and the `instance` of a problem have the same ID.
package struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    private let service: ServiceContext
    private let cors: CORSPolicy?

    /// Records its metrics in the service's own.
    ///
    /// - Parameter cors: the web apps that may call the API; `nil` for none.
    package init(context: ServiceContext, cors: CORSPolicy? = nil) {
        service = context
        self.cors = cors
    }

    /// Answers a request by the routes, or with a problem.
    @concurrent package func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let identifier = RequestIdentifier.of(request.headers)
        let trace = trace(of: request)
        var request = request.below(trace)
        let expectation = BodyExpectation(of: request, context)
        if let expectation { request.body = expectation.asking(for: request.body) }
        var context = withClient(of: request, context)
        context.logger = context.logger.of(request: identifier, trace: request.headers.traceContext)
        var response: Response
        do {
            response = try await answer(request, context: context, within: trace, next: next)
            // A streamed answer may read the body while it is written: the 100 comes before it.
            if response.body.contentLength == nil, response.status.kind == .successful { await expectation?.meet() }
        } catch let error as HTTPParserError {
            throw error  // Hummingbird answers it by closing the connection.
        } catch {
            // The request's permit has ended: a held answer is not in flight.
            if let delay = (error as? AuthenticationError)?.delay, delay > .zero { try? await Task.sleep(for: delay) }
            response = answer(to: error, request: request, context: context, identifier: identifier)
        }
        response.headers[.xRequestID] = identifier
        // Errors too: without these headers a browser hides the status from the web app.
        cors?.addHeaders(to: &response, for: request)
        // No answer to HEAD has a body, not even an error (RFC 9110, 9.3.2). In HTTP/2 a body would end the connection.
        if request.method == .head { response = response.createHeadResponse() }
        service.boundary.finish(
            request.method, route: context.endpointPath ?? "none", status: response.status,
            elapsed: ContinuousClock.now - start,
            logs: context.logger.logLevel <= .debug && !service.boundary.logsAccess, logger: context.logger)
        guard trace != nil || service.boundary.logsAccess else { return response }
        let route = context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 }
        let observed = ObservedRequest(
            method: request.method, route: route, requestID: identifier, start: start, trace: trace,
            line: accessLine(of: request, route: route, context: context))
        return observed.observing(response, logger: service.logger)
    }

    /// The context with the client's address, which a trusted proxy tells.
    private func withClient(of request: Request, _ context: Context) -> Context {
        guard var own = context as? ServiceRequestContext, service.proxies.contains(own.remoteAddress) else {
            return context
        }
        own.remoteAddress = service.proxies.client(of: own.remoteAddress, request.headers)
        return own as? Context ?? context
    }

    /// The new span of a request, if requests are traced. Those of operators are not.
    private func trace(of request: Request) -> RequestTrace? {
        guard let tracer = service.tracer, !Operations.paths.contains(request.uri.path) else { return nil }
        return RequestTrace(tracer, parent: request.headers.traceContext)
    }

    private func accessLine(of request: Request, route: String?, context: Context) -> ObservedRequest.AccessLine? {
        guard service.boundary.logsAccess, !Operations.paths.contains(request.uri.path) else { return nil }
        return ObservedRequest.AccessLine(
            path: route == nil ? request.uri.path : nil, id: context.parameters.get("id"),
            client: (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress)
    }

    @concurrent private func answer(
        _ request: Request, context: Context, within trace: RequestTrace?,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let trace else { return try await answer(request, context: context, next: next) }
        return try await RequestTrace.$current.withValue(trace) {
            try await answer(request, context: context, next: next)
        }
    }

    /// The routes' answer, unless the request is refused before it reaches them.
    @concurrent private func answer(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard HTTPInstruments.knows(request.method) else {
            throw Problem(.notImplemented, "This service does not implement the method.")
        }
        try request.checkCodings()
        if let answer = cors?.preflight(request, methods: service.routes.methods) { return answer }
        if Operations.paths.contains(request.uri.path) { return try await next(request, context) }
        guard let permit = service.requests.begin() else { throw InFlightRequests.problem }
        // A proxy that refuses `/metrics` must not be bypassed by `//metrics`, which the router takes for the same.
        if context.endpointPath.map(Operations.paths.contains) == true {
            throw Problem.notFound("There is nothing at this path.")
        }
        // The bodies of other methods are not read.
        let hasBody = request.method != .get && request.method != .head
        var response = try await next(hasBody ? request.pausing(permit) : request, context)
        permit.answers()
        // A streamed answer is in flight until it is written. A complete one takes no more work from here on, and
        // RequestHandler counts it until it has left.
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
        service.boundary.log(error, to: context.logger)
        var problem = Problem(error, requestID: identifier)
        if (error as? HTTPError)?.status == .notFound, context.endpointPath == "NotFound" {
            let methods = service.routes.methods(of: request.uri.path)
            problem = methods.isEmpty ? .notFound("There is nothing at this path.") : .methodNotAllowed(allow: methods)
            problem.instance = RequestIdentifier.instance(identifier)
        }
        return problem.response
    }
}

extension Request {
    /// Refuses a compressed body: no route decompresses it.
    ///
    /// - Throws: ``Problem`` 415 with the codings that are taken (RFC 9110, sections 8.4 and 15.5.16).
    fileprivate func checkCodings() throws(Problem) {
        let isPlain = headers[values: .contentEncoding].allSatisfy { $0.isEmpty || $0.lowercased() == "identity" }
        let isChunked = headers[values: .transferEncoding].allSatisfy { $0.isEmpty || $0.lowercased() == "chunked" }
        guard isPlain, isChunked else {
            throw Problem(
                .unsupportedMediaType, "The body must not be compressed (Content-Encoding, Transfer-Encoding).",
                headers: [.acceptEncoding: "identity"])
        }
    }

    /// The request with the span as its caller, so that everything made for it is below the span.
    fileprivate func below(_ trace: RequestTrace?) -> Request {
        guard let trace else { return self }
        var head = head
        if let context = trace.context { head.headerFields[.traceparent] = context.traceparent }
        return Request(head: head, body: body)
    }
}

extension Problem {
    /// The only mapping of errors to answers. ``ProblemMiddleware`` uses it, and so do answers that contain problems,
    /// such as a batch's. It logs nothing; see ``logText(of:)``.
    ///
    /// - Parameter requestID: the ID of the request (`context.id`), for ``instance``.
    package init(_ error: any Error, requestID: String) {
        switch error {
        case let problem as Problem: self = problem
        case let error as HTTPError: self = Problem(error.status, error.body, headers: error.headers)
        case let error as any HTTPResponseError: self = Problem(error.status)
        case let error as AuthenticationError: self.init(error)
        // The log has the store's error, the answer does not.
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
        case .tooLong: self = Problem(.requestHeaderFieldsTooLarge, error.message)
        case .throttled: self = .tooManyRequests(error.message, retryAfter: error.retryAfter ?? .seconds(1))
        default: self = .unauthorized(error.message, challenges: error.challenges)
        }
    }

    /// An error's text for the log. `StorageError` and `PayloadError` are written for operators and contain nothing of
    /// a payload. Of every other error only the type is named, because its text could contain a part of the request.
    package static func logText(of error: any Error) -> String {
        switch error {
        case let error as StorageError: error.description
        case let error as PayloadError: error.description
        default: String(reflecting: Swift.type(of: error))
        }
    }
}
