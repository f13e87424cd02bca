import Foundation

/// What is told of a histogram of microseconds: milliseconds at the usual percentiles.
struct LatencySummary: Encodable, Sendable, Equatable {
    static let percentiles = [50, 90, 95, 99, 99.9]

    var count: Int
    /// In milliseconds, as are the others.
    var mean: Double
    /// In the order of ``percentiles``.
    var values: [Double]
    var maximum: Double

    init(_ histogram: HdrHistogram) {
        count = histogram.count
        mean = (histogram.mean / 1000).rounded(toPlaces: 3)
        values = LatencySummary.percentiles.map { Double(histogram.percentile($0)) / 1000 }
        maximum = Double(histogram.maximum) / 1000
    }

    private enum CodingKeys: String, CodingKey {
        case count = "Count"
        case mean = "MeanMilliseconds"
        case p50 = "P50Milliseconds"
        case p90 = "P90Milliseconds"
        case p95 = "P95Milliseconds"
        case p99 = "P99Milliseconds"
        case p999 = "P999Milliseconds"
        case maximum = "MaxMilliseconds"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(mean, forKey: .mean)
        for (key, value) in zip([CodingKeys.p50, .p90, .p95, .p99, .p999], values) {
            try container.encode(value, forKey: key)
        }
        try container.encode(maximum, forKey: .maximum)
    }

    /// The heads of the columns of ``cells``.
    static let heads = ["n", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]

    /// The figures for a table, in milliseconds.
    var cells: [String] {
        [count.grouped] + ([mean] + values + [maximum]).map(LatencySummary.text)
    }

    /// Milliseconds with as many decimals as say something.
    static func text(_ milliseconds: Double) -> String {
        switch milliseconds {
        case ..<10: String(format: "%.2f", milliseconds)
        case ..<100: String(format: "%.1f", milliseconds)
        default: Int(milliseconds.rounded()).grouped
        }
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        let factor = pow(10, Double(places))
        return (self * factor).rounded() / factor
    }
}
