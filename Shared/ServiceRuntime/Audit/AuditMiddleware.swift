import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Logging

/// Writes the lines of the audit log. Its place is below ``ProblemMiddleware``, so that it sees errors and the route.
///
/// Decision: docs/decisions/0021-audit-lines-before-the-answer.md
struct AuditMiddleware<Context: RequestContext>: RouterMiddleware {
    let audit: AuditLog
    let routes: Routes<Context>

    @concurrent func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let path = context.endpointPath, path != "NotFound", !Operations.paths.contains(request.uri.path) else {
            return try await next(request, context)
        }
        let action = routes.action(request.method, path)
        // Before anything is done: a notification that can be read once must not be lost.
        if action.writesAll { try await audit.check() }
        let trail = AuditTrail(audit)
        do {
            let response = try await AuditTrail.$current.withValue(trail) { try await next(request, context) }
            try await record(action, response.status, trail, context)
            return response
        } catch {
            let status = Problem(error, requestID: "").status
            try await record(action, status, trail, context)
            throw error
        }
    }

    private func record(
        _ action: AuditedAction, _ status: HTTPResponse.Status, _ trail: AuditTrail, _ context: Context
    ) async throws {
        let facts = trail.facts
        let result = AuditEntry.Result(status)
        guard action.writesAll || result == .refused || facts.action != nil else { return }
        // Lines of refusals do not wait in memory: anybody can cause them.
        if !action.writesAll, facts.action == nil { try await audit.check() }
        let inPath = (context.parameters.get("id") ?? context.parameters.get("name"))
            .flatMap { PercentCoding.decode($0) }
            .map { NotificationID.logged($0, route: context.endpointPath) }
        let ids = facts.ids.isEmpty ? [inPath] : facts.ids.map(Optional.some)
        let address = (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress
        let request = context.logger[metadataKey: LogKeys.requestID].map { "\($0)" }
        let time = Timestamp.now
        try await audit.record(
            ids.map { id in
                AuditEntry(
                    service: audit.service, actor: facts.actor, action: facts.action ?? action.name, id: id,
                    result: result, address: address, request: request, time: time)
            })
    }
}

extension AuditEntry.Result {
    /// 401, 403, 404, 410 and 429 are refusals; 404 is also the answer to whom a notification does not belong.
    fileprivate init(_ status: HTTPResponse.Status) {
        switch status.code {
        case 401, 403, 404, 410, 429: self = .refused
        case 400..<500: self = .invalid
        case 500...: self = .failed
        default: self = .ok
        }
    }
}
