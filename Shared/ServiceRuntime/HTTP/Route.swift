package import Domain
package import HTTPTypes
package import Hummingbird

/// An entry of a service's table of routes: the handler, the name in metrics, the audited action.
package struct Route<Context: RequestContext>: Sendable {
    package typealias Handler = @Sendable (Request, Context) async throws -> Response

    let method: HTTPRequest.Method
    let path: RouterPath
    /// The path as in metrics and logs: with `{id}` for a captured segment.
    let template: String
    let action: AuditedAction
    let readChanges: @Sendable (Request) -> Bool
    let handler: Handler
    let direct: DirectRoute?

    /// - Parameters:
    ///   - action: its name in the audit log; `nil` for its method and path, and a line of refusals only.
    ///   - readChanges: whether a `GET` changes something, such as whether a notification has been read.
    ///   - direct: its second way; see ``DirectRoute``.
    ///   - maxDirectBody: requests with a larger body are the handler's, in bytes.
    package init(
        _ method: HTTPRequest.Method, _ path: RouterPath, _ action: AuditedAction? = nil,
        _ handler: @escaping Handler, readChanges: @escaping @Sendable (Request) -> Bool = { _ in false },
        direct: DirectRoute.Answer? = nil, maxDirectBody: Int = 0
    ) {
        (self.method, self.path, self.handler, self.readChanges) = (method, path, handler, readChanges)
        template = path.description
        self.action = action ?? .refusals(of: "\(method.rawValue) \(path)")
        self.direct = direct.map { DirectRoute(method, path, maxBodyBytes: maxDirectBody, answer: $0) }
    }
}

/// The routes of a service, and who may call them.
package struct Routes<Context: RequestContext>: Sendable {
    let routes: [Route<Context>]
    let cors: CORSPolicy?

    /// - Parameter cors: the web apps that may call the API; `nil` for none.
    package init(_ routes: [Route<Context>] = [], cors: CORSPolicy? = nil) {
        self.routes = routes
        self.cors = cors
    }

    /// The direct routes for a listener; `nil` if there are none. They write no lines in the audit log, so a route of
    /// which each request gets a line has no direct form if there is a log.
    package func direct(_ service: ServiceContext) -> DirectRoutes? {
        let direct = routes.filter { service.audit == nil || !$0.action.writesAll }.compactMap(\.direct)
        return direct.isEmpty ? nil : DirectRoutes(direct, cors: cors)
    }

    /// The action of a route in the audit log.
    func action(_ method: HTTPRequest.Method, _ template: String) -> AuditedAction {
        if let route = route(method, template) { return route.action }
        // HEAD tells that something is there. The line says HEAD, because nothing was read.
        guard method == .head, let action = route(.get, template)?.action else {
            return .refusals(of: "\(method.rawValue) \(template)")
        }
        return AuditedAction(name: action.name + ".head", writesAll: action.writesAll)
    }

    /// Whether a `GET` changes something.
    func readChanges(_ request: Request, _ template: String) -> Bool {
        route(.get, template)?.readChanges(request) ?? false
    }

    private func route(_ method: HTTPRequest.Method, _ template: String) -> Route<Context>? {
        routes.first { $0.method == method && $0.template == template }
    }
}

extension RequestContext {
    /// The ID of a notification in the path; `nil` if it is not valid.
    package var notificationID: NotificationID? { parameters.get("id").flatMap { NotificationID($0) } }
}
