package import Foundations
import Synchronization
import Tracing

/// Keeps finished spans for a test to look at.
package final class SpanTable: Sendable {
    private let kept = Mutex<[FinishedSpan]>([])

    package init() {}

    /// In the order in which they ended.
    package var spans: [FinishedSpan] { kept.withLock { $0 } }

    package func named(_ name: String) -> [FinishedSpan] { spans.filter { $0.name == name } }

    /// A tracer whose spans end up here.
    package func tracer(_ sampler: SpanSampler = .parentOr(true)) -> SpanTracer {
        SpanTracer(sampler: sampler) { [self] span in kept.withLock { $0.append(span) } }
    }
}

extension FinishedSpan {
    /// The attributes as texts.
    package var texts: [String: String] {
        var texts: [String: String] = [:]
        attributes.forEach { key, value in
            switch value {
            case .string(let text): texts[key] = text
            case .int32(let number): texts[key] = "\(number)"
            case .int64(let number): texts[key] = "\(number)"
            case .bool(let value): texts[key] = "\(value)"
            default: texts[key] = "\(value)"
            }
        }
        return texts
    }

    /// Whether the span has failed.
    package var hasFailed: Bool { status?.code == .error }

    package func isChild(of other: FinishedSpan) -> Bool {
        trace.traceID == other.trace.traceID && parentSpanID == other.trace.spanID
    }
}
