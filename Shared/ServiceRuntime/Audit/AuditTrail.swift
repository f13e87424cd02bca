import Synchronization

/// The facts that a request's lines in the audit log need and only its handler knows.
package final class AuditTrail: Sendable {
    /// The trail of the request that the task handles; `nil` without `AUDIT_LOG`.
    @TaskLocal package static var current: AuditTrail?

    struct Facts: Sendable {
        var actor: String?
        /// Each gets a line of its own.
        var ids: [String] = []
        /// Another action than that of the route.
        var action: String?
    }

    private let audit: AuditLog
    private let state = Mutex(Facts())

    init(_ audit: AuditLog) { self.audit = audit }

    var facts: Facts { state.withLock { $0 } }

    /// Notes who sends the request, once the credentials are verified.
    package func note(actor: String) { state.withLock { $0.actor = actor } }

    /// Notes the ID or name that the request is about, if its path does not have it.
    package func note(id: String) { state.withLock { $0.ids = [id] } }

    /// Notes the IDs that the request is about. Each gets a line.
    package func note(ids: [String]) { state.withLock { $0.ids = ids } }

    /// Notes the notifications whose payloads the answer has, or would have. Each gets a line of the action.
    package func note(read ids: [String], as action: String = "read") {
        state.withLock { ($0.ids, $0.action) = (ids, ids.isEmpty ? nil : action) }
    }

    /// Checks that lines can be written, before anything is done that needs one. Routes of which each request gets a
    /// line have been checked already.
    ///
    /// - Throws: ``Problem`` 503.
    package func check() async throws { try await audit.check() }
}
