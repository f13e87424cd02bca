/// The samples of a Prometheus exposition (text format 0.0.4), as far as a program that watches needs them: names,
/// labels and values. Comments, types and timestamps are passed over, and so is a line that cannot be read.
struct PrometheusSamples: Sendable, Equatable {
    struct Sample: Sendable, Equatable {
        var labels: [String: String]
        var value: Double
    }

    /// By metric name, in the order of the text.
    private(set) var samples: [String: [Sample]] = [:]

    init(_ text: String) {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            var reader = PrometheusLineReader(line)
            guard let (name, sample) = reader.sample() else { continue }
            samples[name, default: []].append(sample)
        }
    }

    /// The samples of a metric with all of these labels.
    subscript(_ name: String, _ labels: [String: String] = [:]) -> [Sample] {
        (samples[name] ?? []).filter { sample in labels.allSatisfy { sample.labels[$0.key] == $0.value } }
    }

    /// Their sum; `nil` when there are none.
    func sum(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let found = self[name, labels]
        return found.isEmpty ? nil : found.reduce(0) { $0 + $1.value }
    }

    /// Their sums by the value of a label.
    func sums(_ name: String, by label: String) -> [String: Double] {
        self[name].reduce(into: [:]) { sums, sample in
            if let value = sample.labels[label] { sums[value, default: 0] += sample.value }
        }
    }

    /// The cumulative counts of a histogram by upper bound in ascending order, series added up.
    func buckets(_ name: String, _ labels: [String: String] = [:]) -> [(bound: Double, count: Double)] {
        let sums = self[name + "_bucket", labels].reduce(into: [Double: Double]()) { sums, sample in
            guard let bound = sample.labels["le"].flatMap({ PrometheusLineReader.number($0) }) else { return }
            sums[bound, default: 0] += sample.value
        }
        return sums.sorted { $0.key < $1.key }.map { (bound: $0.key, count: $0.value) }
    }
}
