import Foundation

/// The summary of a histogram in milliseconds: mean, maximum and the usual percentiles.
struct LatencySummary: Codable, Sendable, Equatable {
    static let percentiles = [50, 90, 95, 99, 99.9]

    var count: Int
    var mean: Double
    /// In the order of ``percentiles``.
    var values: [Double]
    var maximum: Double

    init(_ histogram: LatencyHistogram) {
        count = histogram.count
        mean = (histogram.mean / 1000).rounded(toPlaces: 3)
        values = LatencySummary.percentiles.map(histogram.milliseconds)
        maximum = Double(histogram.maximum) / 1000
    }

    private enum CodingKeys: String, CodingKey {
        case count = "Count", mean = "MeanMilliseconds", maximum = "MaxMilliseconds"
        case p50 = "P50Milliseconds", p90 = "P90Milliseconds", p95 = "P95Milliseconds"
        case p99 = "P99Milliseconds", p999 = "P999Milliseconds"
    }

    private static let keys: [CodingKeys] = [.p50, .p90, .p95, .p99, .p999]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        count = try container.decode(Int.self, forKey: .count)
        mean = try container.decode(Double.self, forKey: .mean)
        values = try LatencySummary.keys.map { try container.decode(Double.self, forKey: $0) }
        maximum = try container.decode(Double.self, forKey: .maximum)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(mean, forKey: .mean)
        for (key, value) in zip(LatencySummary.keys, values) {
            try container.encode(value, forKey: key)
        }
        try container.encode(maximum, forKey: .maximum)
    }

    /// The headers of ``cells``.
    static let heads = ["n", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]

    /// The cells of a table, in milliseconds.
    var cells: [String] {
        [count.grouped] + ([mean] + values + [maximum]).map(LatencySummary.text)
    }

    /// Milliseconds with about three significant digits; a dash for what cannot be a latency. The metrics of a service
    /// can hold any number.
    static func text(_ milliseconds: Double) -> String {
        switch milliseconds {
        case 0..<10: String(format: "%.2f", milliseconds)
        case 10..<100: String(format: "%.1f", milliseconds)
        case 100..<1e15: Int(milliseconds.rounded()).grouped
        default: "-"
        }
    }
}
