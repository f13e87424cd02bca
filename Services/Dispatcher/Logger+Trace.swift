import Logging
import SecurePushCore

extension Logger {
    /// The line of one hub call, at debug: what the hub or the lane said, and the trace that the sender began.
    func trace(_ answer: LaneAnswer, of attempt: DispatchAttempt, platform: Platform) {
        guard logLevel <= .debug else { return }
        var metadata: Logger.Metadata = [
            "notification_id": "\(attempt.plan.id)", "platform": "\(platform)", "result": "\(answer.label)",
            "attempt": "\(attempt.plan.attempt)",
        ]
        let parent = attempt.message.traceparent ?? attempt.plan.traceparent
        if let context = parent.flatMap({ TraceContext(traceparent: $0) }) {
            metadata[TraceContext.LogKey.traceID] = "\(context.traceID)"
            metadata[TraceContext.LogKey.spanID] = "\(context.spanID)"
        }
        debug("A lane answered", metadata: metadata)
    }
}
