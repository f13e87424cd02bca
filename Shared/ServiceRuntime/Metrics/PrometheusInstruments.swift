import CoreMetrics
import Synchronization

/// A counter of whole numbers: one atomic addition.
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

/// Counts in buckets: a timer (nanoseconds in, seconds out) or an aggregating recorder (numbers as they are).
final class HistogramInstrument: TimerHandler, RecorderHandler, PrometheusInstrument {
    private struct State {
        /// By bucket, not cumulative; the last one is everything above the bounds.
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

/// A value that is asked for when it is shown; left out while there is none.
final class ObservedInstrument: PrometheusInstrument {
    private let value: @Sendable () -> Double?

    init(value: @escaping @Sendable () -> Double?) { self.value = value }

    func write(to text: inout PrometheusText, name: String, labels: String) {
        if let number = value() { text.sample(name, labels, number) }
    }
}
