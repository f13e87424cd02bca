import HTTPTypes
import Hummingbird
import Logging
import SecurePushCore

/// Writes the lines of the audit log. Its place is below ``ProblemMiddleware``, so that it sees errors and the route.
struct AuditMiddleware<Context: RequestContext>: RouterMiddleware {
    let audit: AuditLog
    let routes: AuditedRoutes

    @concurrent func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let path = context.endpointPath, path != "NotFound", !Operations.paths.contains(request.uri.path) else {
            return try await next(request, context)
        }
        let action = routes.action(request.method.rawValue, path)
        // Before anything is done: a notification that can be read once must not be lost.
        if action.writesAll, !(await audit.isWritable()) { throw Self.unwritable }
        let trail = AuditTrail()
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

    private static var unwritable: Problem { .serviceUnavailable("The audit log cannot be written.") }

    private func record(
        _ action: AuditedAction, _ status: HTTPResponse.Status, _ trail: AuditTrail, _ context: Context
    ) async throws {
        let facts = trail.facts
        let result = AuditEntry.Result(status)
        guard action.writesAll || result == .refused || !facts.read.isEmpty else { return }
        // Lines of refusals do not wait in memory: anybody can cause them.
        if !action.writesAll, facts.read.isEmpty, !(await audit.isWritable()) { throw Self.unwritable }
        let entry = AuditEntry(
            service: audit.service, actor: facts.actor, action: action.name,
            id: facts.id ?? context.parameters.get("id").flatMap { PercentCoding.decode($0) }, result: result,
            address: (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress,
            request: context.logger[metadataKey: LogKeys.requestID].map { "\($0)" })
        await audit.record(facts.read.isEmpty ? [entry] : facts.read.map { entry.read($0) })
    }
}

extension AuditEntry {
    /// The line of a payload in an answer with several.
    fileprivate func read(_ id: String) -> AuditEntry {
        var entry = self
        (entry.action, entry.id) = ("read", id)
        return entry
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
