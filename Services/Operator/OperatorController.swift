import Crypto
import Domain
import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// The JSON API of the page:
///
/// - `GET /admin/api/overview?Window=&After=TIME`
/// - `GET /admin/api/failures?Window=&Before=ID`, `POST /admin/api/failures/resend`
/// - `GET /admin/api/dead-letters?Limit=`, `POST /admin/api/dead-letters/replay`
/// - `GET /admin/api/notifications/{id}`, `POST /admin/api/notifications/{id}/resend`
/// - `POST /admin/api/notifications/search`
///
/// Every answer is bounded and contains no payload, key or token. Requests that change something have a JSON body, so
/// that no form of another site can send them.
struct OperatorController: Sendable {
    let source: OverviewSource
    let directory: OperatorDirectory
    let actions: OperatorActions

    /// A request names a few IDs, a reason or a recipient.
    static let maxBody = 64 << 10
    static let maxIDs = 200

    @Sendable func overview(_ request: Request, context: some RequestContext) async throws -> Response {
        var query = QueryParameters(request.uri.query, known: ["Window", "After"])
        let window = query.takeWindow()
        let after = query.take("After", "The value must be a time of RFC 3339.") { Timestamp(rfc3339: $0) }
        try query.check()
        return try .report(await source.overview(window).after(after), to: request)
    }

    @Sendable func failures(_ request: Request, context: some RequestContext) async throws -> Response {
        var query = QueryParameters(request.uri.query, known: ["Window", "Before"])
        let window = query.takeWindow()
        let before = query.take("Before", NotificationID.requirement) { NotificationID($0) }
        try query.check()
        return try .report(try await directory.failures(window, before: before, now: .now), to: request)
    }

    @Sendable func resendFailures(_ request: Request, context: some RequestContext) async throws -> Response {
        let wanted = try await request.jsonBody(upTo: Self.maxBody).readJSON(.object { FailureSelection(&$0) })
        AuditTrail.current?.note(id: wanted.reason)
        return try .report(
            try await actions.resend(
                wanted.reason, wanted.window, before: wanted.before, trace: request.headers.traceContext))
    }

    @Sendable func deadLetters(_ request: Request, context: some RequestContext) async throws -> Response {
        var query = QueryParameters(request.uri.query, known: ["Limit"])
        let limit = query.takeNumber("Limit", in: 1...OperatorActions.maxListed)
        try query.check()
        return try .report(try await Self.broker { try await actions.deadLetters(limit: limit ?? 50) }, to: request)
    }

    @Sendable func replay(_ request: Request, context: some RequestContext) async throws -> Response {
        let selection = try await request.jsonBody(upTo: Self.maxBody).readJSON(.object { ReplaySelection(&$0) })
        if let ids = selection.ids {
            AuditTrail.current?.note(ids: ids.map(\.description).sorted())
        } else {
            AuditTrail.current?.note(id: selection.reason ?? "all")
        }
        let report = try await Self.broker { try await actions.replay(ids: selection.ids, reason: selection.reason) }
        return try .report(ReplayAnswer(report))
    }

    @Sendable func search(_ request: Request, context: some RequestContext) async throws -> Response {
        let wanted = try await request.jsonBody(upTo: Self.maxBody).readJSON(.object { RecipientSelection(&$0) })
        AuditTrail.current?.note(id: wanted.recipient.text)
        return try .report(try await directory.found(wanted.recipient, before: wanted.before, now: .now))
    }

    @Sendable func notification(_ request: Request, context: some RequestContext) async throws -> Response {
        guard let id = context.notificationID, let life = try await directory.store.life(of: id) else {
            throw Self.notFound
        }
        return try .report(NotificationTimeline(life, platforms: directory.platforms, now: .now), to: request)
    }

    @Sendable func resend(_ request: Request, context: some RequestContext) async throws -> Response {
        _ = try await request.jsonBody(upTo: Self.maxBody)
        guard let id = context.notificationID else { throw Self.notFound }
        let report = try await actions.resend(id, trace: request.headers.traceContext)
        guard let report else { throw Self.notFound }
        return try .report(report)
    }

    private static let notFound = Problem.notFound("There is no such notification.")

    /// A broker that cannot be reached is 503, not the service's own failure.
    static func broker<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as StorageError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Problem.serviceUnavailable("The dead-letter queue cannot be read: \(error)")
        }
    }
}

extension Response {
    /// A value as JSON with members in PascalCase; members without a value are left out.
    ///
    /// - Parameter request: gets 304 if it has the answer already (RFC 9110, 13.1.2).
    static func report(_ value: some Encodable, to request: Request? = nil) throws -> Response {
        let body = try JSONEncoder.pascalCase.encode(value)
        var response = Response.json(.ok, ByteBuffer(bytes: body))
        guard let request else { return response }
        let digest = SHA256.hash(data: body).prefix(12)
        let tag = "\"\(Data(digest).base64EncodedString())\""
        if request.headers[.ifNoneMatch] == tag {
            response = Response(status: .notModified, headers: [.cacheControl: "no-store"])
        }
        response.headers[.eTag] = tag
        return response
    }
}

extension QueryParameters {
    /// `Window`; one hour if it is missing.
    mutating func takeWindow() -> TimeWindow {
        take("Window", "The value must be 15m, 1h or 24h.") { TimeWindow(rawValue: $0) } ?? .hour
    }
}
