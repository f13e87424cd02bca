import CoreMetrics
import Synchronization

/// A counter of whole numbers. Incrementing is one atomic addition.
final class CounterInstrument: CounterHandler, PrometheusInstrument {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        text.sample(name, labels, Double(value.load(ordering: .relaxed)))
    }
}

/// One floating-point number: a gauge, a meter or a floating-point counter.
final class ValueInstrument: FloatingPointCounterHandler, MeterHandler, RecorderHandler, PrometheusInstrument {
    private let value = Mutex<Double>(0)

    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func set(_ number: Double) { value.withLock { $0 = number } }
    func set(_ number: Int64) { set(Double(number)) }
    func record(_ number: Double) { set(number) }
    func record(_ number: Int64) { set(Double(number)) }
    func reset() { set(0.0) }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        text.sample(name, labels, value.withLock { $0 })
    }
}

/// Counts in buckets: a timer, which converts nanoseconds to seconds, or an aggregating recorder.
final class HistogramInstrument: TimerHandler, RecorderHandler, PrometheusInstrument {
    private struct State {
        /// Per bucket, not cumulative. The last one counts the values above all bounds.
        var counts: [UInt64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(buckets: [Double]) {
        bounds = buckets
        state = Mutex(State(counts: Array(repeating: 0, count: buckets.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
    func record(_ number: Int64) { record(Double(number)) }

    func record(_ number: Double) {
        let bucket = bounds.firstIndex { number <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += number
        }
    }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        let prefix = labels.isEmpty ? "" : labels + ","
        var total: UInt64 = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? PrometheusText.number(bounds[index]) : "+Inf"
            text.sample(name + "_bucket", "\(prefix)le=\"\(bound)\"", Double(total))
        }
        text.sample(name + "_sum", labels, sum)
        text.sample(name + "_count", labels, Double(total))
    }
}

/// A value that is read at each scrape.
final class ObservedInstrument: PrometheusInstrument {
    private let value: @Sendable () -> Double?

    init(value: @escaping @Sendable () -> Double?) { self.value = value }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        if let number = value() { text.sample(name, labels, number) }
    }
}

/// Writes the text exposition format 0.0.4 of Prometheus (`docs/instrumenting/exposition_formats.md`).
struct PrometheusText {
    /// The `Content-Type` of the format.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    mutating func family(name: String, kind: Metric.Kind, help: String?) {
        if let help { text += "# HELP \(name) \(PrometheusText.escaped(help, quotes: false))\n" }
        text += "# TYPE \(name) \(kind.word)\n"
    }

    mutating func sample(_ name: String, _ labels: String, _ value: Double) {
        text += labels.isEmpty ? name : "\(name){\(labels)}"
        text += " \(PrometheusText.number(value))\n"
    }

    /// `name="value",...`, sorted by name.
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }
            .map { "\(labelName($0.0))=\"\(escaped($0.1, quotes: true))\"" }
            .joined(separator: ",")
    }

    /// A name of letters, digits, `_` and `:` that does not begin with a digit.
    static func metricName(_ name: String) -> String { identifier(name, colons: true) }

    private static func labelName(_ name: String) -> String { identifier(name, colons: false) }

    private static func identifier(_ name: String, colons: Bool) -> String {
        var result = ""
        for character in name.unicodeScalars {
            let isDigit = ("0"..."9").contains(character)
            let isLetter = ("a"..."z").contains(character) || ("A"..."Z").contains(character) || character == "_"
            if isDigit, result.isEmpty { result += "_" }
            result.unicodeScalars.append(isLetter || isDigit || (colons && character == ":") ? character : "_")
        }
        return result.isEmpty ? "_" : result
    }

    /// Whole numbers without a fraction, others in the shortest exact form.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return value.description
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
