import Domain
import Foundations
import PushServices
import Storage
import Tracing

/// The span of pushes, of kind CLIENT: those of a page of a send to one platform, or one push that was stored. It is below
/// the span of the send's request, and holds no handle.
struct PushSpan {
    private let span: any Tracing.Span
    private var outcomes: [String: Int] = [:]
    private var cause: PushCircuit.Cause?

    /// - Parameter push: one of them.
    /// - Returns: `nil` if the send has no trace, or nobody records it.
    init?(_ tracer: any Tracer, _ push: Push, at start: DefaultTracerClock.Timestamp = DefaultTracerClock.now) {
        let context = InstrumentationContext(traceparent: push.traceparent)
        guard context.trace != nil else { return nil }
        span = tracer.startSpan(
            "push \(push.lane.platform)", context: context, ofKind: .client, at: start)
        guard span.isRecording else { return nil }
        span.updateAttributes { attributes in
            attributes["securepush.hub"] = push.lane.hub
            attributes["securepush.platform"] = push.lane.platform
            attributes["securepush.hub_message_id"] = push.messageID
            if push.attempt > 0 { attributes["http.request.resend_count"] = push.attempt }
        }
    }

    /// The spans of pushes by their lanes.
    static func all(_ tracer: (any Tracer)?, _ pushes: [Push]) -> [HubLaneKey: PushSpan] {
        guard let tracer, pushes.first?.traceparent != nil else { return [:] }
        var spans: [HubLaneKey: PushSpan] = [:]
        for push in pushes where spans[push.lane] == nil { spans[push.lane] = PushSpan(tracer, push) }
        return spans
    }

    /// Counts a push.
    ///
    /// - Parameter verdict: `nil` while it is under way.
    mutating func note(_ verdict: PushVerdict?) {
        switch verdict {
        case .over(let outcome): outcomes[outcome.rawValue, default: 0] += 1
        case .again(let again):
            outcomes[DeliveryOutcome.unknown.rawValue, default: 0] += 1
            cause = cause ?? again.cause
        case nil: outcomes[DeliveryOutcome.unknown.rawValue, default: 0] += 1
        }
    }

    /// Ends the span of one push.
    func end(_ verdict: PushVerdict) {
        var span = self
        span.note(verdict)
        span.end()
    }

    /// Ends it. It has failed if a push has to be tried again because of its push service.
    func end() {
        span.updateAttributes { attributes in
            attributes["securepush.devices"] = outcomes.values.reduce(0, +)
            attributes["securepush.outcome"] = MessageOutcome(outcomes)?.text
        }
        switch cause {
        case .credentials?: span.fail("credentials")
        case .throttled?: span.fail("throttled")
        case .unreachable?: span.fail("unreachable")
        case nil: break
        }
        span.end()
    }
}
