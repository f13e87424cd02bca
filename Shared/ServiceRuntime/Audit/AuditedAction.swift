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
