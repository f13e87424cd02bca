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
        let body = try await body(of: request)
        try check(body, of: caller, contentType: request.headers[.contentType])
        let origin = RequestOrigin(sender: caller.name, traceparent: request.headers.traceContext?.traceparent)
        let now = intake.now()
        let sealed = Result { try intake.seal(try read(body, of: caller, now: now), from: origin, now: now) }
        guard let key else { return response(try await accept(try sealed.get())) }
        let outcome = try await intake.acceptOnce(
            IdempotentRequest.Key(sender: caller.name, value: key), body: Array(body.readableBytesView), now: now,
            sealed: sealed)
        return response(outcome)
    }

    private func accept(_ sealed: SealedRequest) async throws -> IdempotentOutcome {
        try await intake.append([sealed])
        return .accepted(sealed.answer)
    }

    /// The whole body; past the limit it is refused unread.
    private func body(of request: Request) async throws -> ByteBuffer {
        let limit = CreateNotificationRequest.Limit.bodyBytes
        let tooLarge = Problem.contentTooLarge("The body may be at most 2 MiB.")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        do {
            return try await request.body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
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
