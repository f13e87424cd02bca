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
