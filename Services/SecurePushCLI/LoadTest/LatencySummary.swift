import Foundation

/// A histogram in milliseconds: mean, maximum and the usual percentiles.
struct LatencySummary: Encodable, Sendable, Equatable {
    var count: Int
    var mean: Double
    var p50: Double
    var p90: Double
    var p95: Double
    var p99: Double
    var p999: Double
    var maximum: Double

    private enum CodingKeys: String, CodingKey {
        case count, mean = "MeanMilliseconds", maximum = "MaxMilliseconds", p50 = "P50Milliseconds"
        case p90 = "P90Milliseconds", p95 = "P95Milliseconds", p99 = "P99Milliseconds", p999 = "P999Milliseconds"
    }

    init(_ histogram: LatencyHistogram) {
        count = histogram.count
        mean = (histogram.mean / 1000).rounded(toPlaces: 3)
        p50 = histogram.milliseconds(50)
        p90 = histogram.milliseconds(90)
        p95 = histogram.milliseconds(95)
        p99 = histogram.milliseconds(99)
        p999 = histogram.milliseconds(99.9)
        maximum = Double(histogram.maximum) / 1000
    }

    static var columns: [Column<(name: String, latency: LatencySummary)>] {
        ["n", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"].enumerated().map { index, title in
            Column(title, isNumber: true) { $0.latency.cells[index] }
        }
    }

    var cells: [String] {
        [count.grouped] + [mean, p50, p90, p95, p99, p999, maximum].map(LatencySummary.text)
    }

    /// Milliseconds with about three significant digits; a dash for a number that cannot be a latency. The metrics of a
    /// service can hold any number.
    static func text(_ milliseconds: Double) -> String {
        switch milliseconds {
        case 0..<10: String(format: "%.2f", milliseconds)
        case 10..<100: String(format: "%.1f", milliseconds)
        case 100..<1e15: Int(milliseconds.rounded()).grouped
        default: "-"
        }
    }
}
