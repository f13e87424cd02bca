import HTTPTypes
import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `POST /api/notifications`: takes a secret for a user.
struct NotificationsController: Sendable {
    let caller: CallerAuthentication
    let intake: NotificationIntake

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.post("/api/notifications", use: create)
    }

    /// Answers once the notifications are durable, broker up or not.
    @Sendable func create(_ request: Request, context: some RequestContext) async throws -> Response {
        let caller = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        let key = try IdempotencyKeyHeader.value(in: request.headers)
        let share = intake.budget.share()
        defer { share.release() }
        let body = try await body(of: request, share)
        try check(body, of: caller, contentType: request.headers[.contentType])
        let origin = RequestOrigin(sender: caller.name, traceparent: request.headers.traceContext?.traceparent)
        let now = intake.now()
        let wanted = Result { try read(body, of: caller, now: now) }
        if case .success(let request) = wanted { try share.add(request.storedBytes) }
        guard let key else {
            return response(.accepted(try await intake.accept(try wanted.get(), from: origin, now: now)))
        }
        let outcome = try await intake.acceptOnce(
            IdempotentRequest.Key(sender: caller.name, value: key), body: Array(body.readableBytesView), now: now,
            wanted: wanted, from: origin)
        return response(outcome)
    }

    /// The whole body; past the limit it is refused unread.
    ///
    /// - Parameter share: is made to hold it.
    private func body(of request: Request, _ share: RequestBudget.Share) async throws -> ByteBuffer {
        let limit = CreateNotificationRequest.Limit.bodyBytes
        let tooLarge = Problem.contentTooLarge("The body may be at most 2 MiB.")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        var body = ByteBuffer()
        for try await chunk in request.body {
            guard chunk.readableBytes <= limit - body.readableBytes else { throw tooLarge }
            try share.add(chunk.readableBytes)
            // One chunk is the whole body of nearly every request, and is not copied.
            if body.readableBytes == 0 { body = chunk } else { body.writeImmutableBuffer(chunk) }
        }
        return body
    }

    /// What can be said of a body unread.
    private func check(
        _ body: ByteBuffer, of caller: CallerAuthentication.Caller, contentType: String?
    ) throws(Problem) {
        let isEmpty = body.readableBytes == 0
        switch caller {
        case .user:
            guard isEmpty else {
                throw .forbidden("A user may only send a confirmation to itself, with an empty body.")
            }
        case .sender:
            guard !isEmpty else {
                throw .badRequest("The body is empty; a sender gives a Recipient and a Payload as JSON.")
            }
            guard MediaType.isJSON(contentType) else {
                throw .unsupportedMediaType("The body must be application/json in UTF-8.")
            }
        }
    }

    private func read(
        _ body: ByteBuffer, of caller: CallerAuthentication.Caller, now: Timestamp
    ) throws -> CreateNotificationRequest {
        if case .user(let name) = caller { return .confirmation(to: name) }
        do {
            return try body.withUnsafeReadableBytes { bytes in
                try intake.read(bytes.assumingMemoryBound(to: UInt8.self), now: now)
            }
        } catch let refusal as CreateNotificationRefusal {
            throw refusal.problem
        }
    }

    private func response(_ outcome: IdempotentOutcome) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.location] = outcome.answer.location
        if case .repeated = outcome { headers[.idempotencyReplay] = "true" }
        let body = ResponseBody(byteBuffer: ByteBuffer(bytes: outcome.answer.body))
        return Response(status: .created, headers: headers, body: body)
    }
}
