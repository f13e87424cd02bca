import Synchronization

/// The facts that a request's lines in the audit log need and only its handler knows.
public final class AuditTrail: Sendable {
    /// The trail of the request that the task handles; `nil` without `AUDIT_LOG`.
    @TaskLocal public static var current: AuditTrail?

    struct Facts: Sendable {
        var actor: String?
        var id: String?
        var read: [String] = []
    }

    private let state = Mutex(Facts())

    init() {}

    var facts: Facts { state.withLock { $0 } }

    /// Notes who sends the request, once the credentials are verified.
    public func note(actor: String) { state.withLock { $0.actor = actor } }

    /// Notes the ID that the request is about, if its path does not name it.
    public func note(id: String) { state.withLock { $0.id = id } }

    /// Notes the notifications whose payloads the answer has. Each gets a line of the action `read`.
    public func note(read ids: [String]) { state.withLock { $0.read += ids } }
}

/// The actions of a router's routes in the audit log.
public struct AuditedRoutes: Sendable, ExpressibleByDictionaryLiteral {
    struct Action: Sendable {
        let name: String
        let writesAll: Bool
    }

    private let actions: [String: Action]

    /// - Parameter elements: `METHOD PATH` with captures as `{id}`, and the name of the action. Each request to these
    ///   routes gets a line. A name with a question mark at its end is for a route of which only refusals get one.
    public init(dictionaryLiteral elements: (String, String)...) {
        var actions: [String: Action] = [:]
        for (route, name) in elements {
            let isQuiet = name.hasSuffix("?")
            actions[route] = Action(name: isQuiet ? String(name.dropLast()) : name, writesAll: !isQuiet)
        }
        self.actions = actions
    }

    /// The action of a route. That of an unlisted one is its method and path, and only refusals get a line.
    func action(_ method: String, _ path: String) -> Action {
        // HEAD returns and changes nothing.
        let isHead = method == "HEAD"
        guard let action = actions["\(isHead ? "GET" : method) \(path)"] else {
            return Action(name: "\(method) \(path)", writesAll: false)
        }
        return Action(name: action.name, writesAll: action.writesAll && !isHead)
    }
}
