/// The action of a route in the audit log. A literal is an action of which each request gets a line.
package struct AuditedAction: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name in the log.
    let name: String
    /// Whether each request gets a line; otherwise only those that are refused do.
    let writesAll: Bool

    /// An action of which each request gets a line.
    package init(stringLiteral name: String) { self.init(name: name, writesAll: true) }

    init(name: String, writesAll: Bool) { (self.name, self.writesAll) = (name, writesAll) }

    /// An action of which only refused requests get a line.
    package static func refusals(of name: String) -> AuditedAction { AuditedAction(name: name, writesAll: false) }
}

/// The actions of a router's routes in the audit log, by `METHOD PATH` with captures as `{id}`.
package struct AuditedRoutes: Sendable, ExpressibleByDictionaryLiteral {
    private let actions: [String: AuditedAction]

    /// - Precondition: no route is listed twice.
    package init(dictionaryLiteral elements: (String, AuditedAction)...) {
        actions = Dictionary(uniqueKeysWithValues: elements)
    }

    /// The action of a route. That of an unlisted one is its method and path, and only refusals get a line.
    func action(_ method: String, _ path: String) -> AuditedAction {
        // HEAD tells that something is there. The line says HEAD, because nothing was read.
        if let action = actions["\(method) \(path)"] { return action }
        guard method == "HEAD", let get = actions["GET \(path)"] else { return .refusals(of: "\(method) \(path)") }
        return AuditedAction(name: get.name + ".head", writesAll: get.writesAll)
    }
}
