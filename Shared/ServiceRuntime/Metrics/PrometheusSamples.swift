/// The samples of a Prometheus exposition (text format 0.0.4): names, labels and values. Ignores comments, types,
/// timestamps and invalid lines.
package struct PrometheusSamples: Sendable, Equatable {
    /// One series at one time.
    package struct Sample: Sendable, Equatable {
        package var labels: [String: String]
        /// A number of the format; it may be infinite or not a number.
        package var value: Double

        package init(labels: [String: String], value: Double) {
            self.labels = labels
            self.value = value
        }
    }

    /// By metric name, in the order of the text.
    package private(set) var samples: [String: [Sample]] = [:]

    /// Reads the text of `GET /metrics`.
    package init(_ text: String) {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            var reader = PrometheusLineReader(line)
            guard let (name, sample) = reader.sample() else { continue }
            samples[name, default: []].append(sample)
        }
    }

    /// The samples of a metric with all of these labels.
    package subscript(_ name: String, _ labels: [String: String] = [:]) -> [Sample] {
        (samples[name] ?? []).filter { sample in labels.allSatisfy { sample.labels[$0.key] == $0.value } }
    }

    /// The sum of the samples; `nil` if there are none.
    package func sum(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let found = self[name, labels]
        return found.isEmpty ? nil : found.reduce(0) { $0 + $1.value }
    }

    /// The sums by the value of a label.
    package func sums(_ name: String, by label: String) -> [String: Double] {
        self[name].reduce(into: [:]) { sums, sample in
            if let value = sample.labels[label] { sums[value, default: 0] += sample.value }
        }
    }

    /// The cumulative counts of a histogram by upper bound, ascending, summed over all series.
    package func buckets(_ name: String, _ labels: [String: String] = [:]) -> [(bound: Double, count: Double)] {
        let sums = self[name + "_bucket", labels].reduce(into: [Double: Double]()) { sums, sample in
            guard let bound = sample.labels["le"].flatMap({ PrometheusLineReader.number($0) }) else { return }
            sums[bound, default: 0] += sample.value
        }
        return sums.sorted { $0.key < $1.key }.map { (bound: $0.key, count: $0.value) }
    }
}

/// Reads a line of the Prometheus text format: `name{label="value",...} 12.5 [timestamp]`.
private struct PrometheusLineReader {
    private var rest: Substring.UTF8View

    init(_ line: Substring.UTF8View) { rest = line }

    /// `nil` for a comment, an empty line or an invalid line.
    mutating func sample() -> (name: String, sample: PrometheusSamples.Sample)? {
        skipBlanks()
        let name = word { PrometheusLineReader.isNameByte($0) }
        guard !name.isEmpty else { return nil }
        var labels: [String: String] = [:]
        if take("{") {
            guard readLabels(&labels) else { return nil }
        }
        skipBlanks()
        guard let value = PrometheusLineReader.number(word { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
        else { return nil }
        return (name, PrometheusSamples.Sample(labels: labels, value: value))
    }

    /// A number of the format, including `+Inf`, `-Inf` and `NaN`.
    static func number(_ text: String) -> Double? {
        switch text {
        case "+Inf", "Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: Double(text)
        }
    }

    private mutating func readLabels(_ labels: inout [String: String]) -> Bool {
        while true {
            skipBlanks()
            if take("}") { return true }
            let name = word { PrometheusLineReader.isNameByte($0) }
            guard !name.isEmpty, take("="), take("\""), let value = quoted() else { return false }
            labels[name] = value
            skipBlanks()
            if !take(",") {
                skipBlanks()
                return take("}")
            }
        }
    }

    /// Reads up to the closing quote and resolves `\\`, `\"` and `\n`.
    private mutating func quoted() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                bytes.append(escaped == UInt8(ascii: "n") ? UInt8(ascii: "\n") : escaped)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func skipBlanks() {
        while rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: "\t") { rest.removeFirst() }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func word(while isPart: (UInt8) -> Bool) -> String {
        let end = rest.firstIndex { !isPart($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

/// The difference between two polls of a service's metrics. There are no rates without a previous poll, or if the
/// process has restarted since.
package struct MetricsWindow: Sendable {
    /// The earlier poll; `nil` if there is none, or the process has restarted since.
    package let before: PrometheusSamples?
    /// The later poll.
    package let after: PrometheusSamples
    /// The time between the polls.
    package let seconds: Double

    /// - Parameter seconds: the time between the polls.
    package init(before: PrometheusSamples?, after: PrometheusSamples, seconds: Double) {
        let start = Metric.processStart.name
        // The service computes its start time from its age, so it can differ a little.
        let isSame = abs((before?.sum(start) ?? 0) - (after.sum(start) ?? 0)) < 2
        self.before = isSame ? before : nil
        self.after = after
        self.seconds = seconds
    }

    /// The growth of a counter per second; `nil` without a previous poll or without such a counter, and if it is no
    /// number that a counter can have.
    package func rate(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        guard let before, seconds > 0, let last = after.sum(name, labels) else { return nil }
        // A missing series counts as 0.
        let rate = max(0, last - (before.sum(name, labels) ?? 0)) / seconds
        return rate < HistogramBuckets.maxValue ? rate : nil
    }

    /// The growth by the value of a label, without those that did not grow.
    package func rates(_ name: String, by label: String) -> [String: Double] {
        guard let before, seconds > 0 else { return [:] }
        let first = before.sums(name, by: label)
        return after.sums(name, by: label).reduce(into: [:]) { rates, item in
            let growth = item.value - first[item.key, default: 0]
            if growth > 0, growth < HistogramBuckets.maxValue { rates[item.key] = growth / seconds }
        }
    }

    /// A quantile of the values that a histogram has recorded between the polls, interpolated within a bucket like
    /// Prometheus's `histogram_quantile`. `nil` without new values; above the last bound it returns that bound.
    package func quantile(_ quantile: Double, _ name: String, _ labels: [String: String] = [:]) -> Double? {
        HistogramBuckets.quantile(quantile, of: growth(name, labels))
    }

    /// The cumulative counts of a histogram that were added between the polls, by upper bound, ascending; empty without
    /// a previous poll.
    package func growth(_ name: String, _ labels: [String: String] = [:]) -> [(bound: Double, count: Double)] {
        guard let before else { return [] }
        let first = Dictionary(uniqueKeysWithValues: before.buckets(name, labels).map { ($0.bound, $0.count) })
        return after.buckets(name, labels).map {
            (bound: $0.bound, count: max(0, $0.count - first[$0.bound, default: 0]))
        }
    }
}

/// Quantiles of a histogram.
package enum HistogramBuckets {
    /// Larger counts and quantiles, infinite ones and NaN are mistakes of the peer. They are left out, because JSON has
    /// no text for some and arithmetic on the others overflows.
    package static let maxValue = 1e15

    /// A quantile, interpolated within a bucket like Prometheus's `histogram_quantile`. `nil` without values and for
    /// values beyond ``maxValue``; above the last bound it is that bound.
    ///
    /// - Parameter buckets: the cumulative counts by upper bound, ascending.
    package static func quantile(_ quantile: Double, of buckets: [(bound: Double, count: Double)]) -> Double? {
        guard let total = buckets.last?.count, total > 0, total < maxValue else { return nil }
        let rank = quantile * total
        var lower = (bound: 0.0, count: 0.0)
        for bucket in buckets {
            if bucket.count >= rank {
                guard bucket.bound.isFinite else { return checked(lower.bound) }
                let inside = bucket.count - lower.count
                let share = inside > 0 ? (rank - lower.count) / inside : 1
                return checked(lower.bound + (bucket.bound - lower.bound) * share)
            }
            lower = bucket
        }
        return checked(lower.bound)
    }

    private static func checked(_ value: Double) -> Double? {
        value.magnitude < maxValue ? value : nil
    }
}
