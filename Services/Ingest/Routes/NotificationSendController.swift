import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// `POST /api/notifications`: accepts a secret for a user.
struct NotificationSendController: Sendable {
    let authentication: SenderAuthentication
    let acceptor: NotificationAcceptor

    /// Responds once the notifications are durable, whether or not the broker is reachable.
    @Sendable func create(_ request: Request, context: some RequestContext) async throws -> Response {
        let caller = try await authentication.caller(of: request, context: context)
        let key = try IdempotencyKeyHeader.value(in: request.headers)
        let reservation = acceptor.budget.reservation(arrivingFrom: caller.name)
        defer { reservation.release() }
        let body = try await body(of: request, from: caller, reservation)
        reservation.arrived()
        try check(body, from: caller, contentType: request.headers[.contentType])
        if case .user(let name) = caller { try acceptor.userLimit?.take(name.text) }
        let origin = RequestOrigin(sender: caller.name, traceparent: request.headers.traceContext?.traceparent)
        let now = acceptor.now()
        let wanted = Result { try read(body, from: caller, now: now) }
        if case .success(let request) = wanted { try reservation.add(request.storedBytes) }
        guard let key else {
            let answer = try await acceptor.accept(try wanted.get(), from: origin, now: now)
            return response(answer, isReplay: false).response
        }
        let outcome = try await acceptor.acceptOnce(
            IdempotentRequest.Key(sender: caller.name, value: key), body: Array(body.readableBytesView), now: now,
            request: wanted, from: origin)
        return response(outcome.answer, isReplay: outcome.isReplay).response
    }

    /// The body of a sender. The body of a user is refused before it has arrived, because otherwise any user could make
    /// the service wait.
    ///
    /// - Throws: ``Problem`` 403, 413, 415 or 503.
    private func body(
        of request: Request, from caller: SenderAuthentication.Caller, _ reservation: RequestBudget.Reservation
    ) async throws -> ByteBuffer {
        guard case .user = caller else {
            return try await request.wholeBody(
                upTo: CreateNotificationRequest.Limit.maxBodyBytes, tooLarge: "The body may be at most 2 MiB.",
                onChunk: reservation.add, onBody: { try Self.checkType(request.headers[.contentType]) })
        }
        let length = request.headers[.contentLength].map { Int($0) }
        guard length == nil || length == 0, request.headers[.transferEncoding] == nil else { throw Self.usersBody }
        // In HTTP/2 only the first byte tells that there is a body without a length.
        if length == nil { for try await part in request.body where part.readableBytes > 0 { throw Self.usersBody } }
        return ByteBuffer()
    }

    private static let usersBody = Problem.forbidden(
        "Users may only send a confirmation to themselves, with an empty body.")

    /// Answers a small valid request of an application server without an `Idempotency-Key` directly. Everything else is
    /// left to the router, which finds the same mistakes again.
    ///
    /// Decision: docs/decisions/0007-direct-routes.md
    @Sendable func createDirectly(_ request: DirectRequest, _ reply: DirectReply) -> Bool {
        guard !request.hasIdempotencyKey,
            let name = try? authentication.senders.sender(authorization: request.authorization)
        else {
            return false
        }
        let reservation = acceptor.budget.reservation()
        let now = acceptor.now()
        guard let wanted = try? prepare(request, from: .sender(name), reservation, now: now),
            wanted.storedBytes <= RequestBudget.Limit.maxSmallBytes
        else {
            reservation.release()
            return false
        }
        let origin = RequestOrigin(sender: name, traceparent: request.traceContext?.traceparent)
        acceptor.accept(wanted, from: origin, now: now) { answer in
            reservation.release()
            reply { response(try answer.get(), isReplay: false) }
        }
        return true
    }

    private func prepare(
        _ request: DirectRequest, from caller: SenderAuthentication.Caller, _ reservation: RequestBudget.Reservation,
        now: Timestamp
    ) throws -> CreateNotificationRequest {
        let body = request.body
        try reservation.add(body.readableBytes)
        try check(body, from: caller, contentType: request.contentType)
        let wanted = try read(body, from: caller, now: now)
        try reservation.add(wanted.storedBytes)
        return wanted
    }

    /// The checks that need no parsing.
    private func check(
        _ body: ByteBuffer, from caller: SenderAuthentication.Caller, contentType: String?
    ) throws(Problem) {
        let isEmpty = body.readableBytes == 0
        switch caller {
        case .user:
            guard isEmpty else { throw Self.usersBody }
        case .sender:
            guard !isEmpty else {
                throw .badRequest("The body is empty; send a JSON object with Recipient and Payload.")
            }
            try Self.checkType(contentType)
        }
    }

    private static func checkType(_ contentType: String?) throws(Problem) {
        guard MediaType.isJSON(contentType) else {
            throw .unsupportedMediaType("The body must be application/json in UTF-8.")
        }
    }

    private func read(
        _ body: ByteBuffer, from caller: SenderAuthentication.Caller, now: Timestamp
    ) throws -> CreateNotificationRequest {
        if case .user(let name) = caller { return try acceptor.confirmation(to: name) }
        do {
            return try body.withUnsafeReadableBytes { bytes in
                try acceptor.read(bytes.assumingMemoryBound(to: UInt8.self), now: now)
            }
        } catch let refusal as CreateNotificationRefusal {
            throw refusal.problem(of: "body")
        }
    }

    private func response(_ answer: IdempotentRequest.Answer, isReplay: Bool) -> CompleteResponse {
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.location] = answer.location
        if isReplay { headers[.idempotencyReplay] = "true" }
        return CompleteResponse(status: .created, headers: headers, body: ByteBuffer(bytes: answer.body))
    }
}
