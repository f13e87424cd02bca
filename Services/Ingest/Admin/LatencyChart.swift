/// A drawing of the percentiles of one latency: time from left to right, milliseconds on a logarithmic scale.
struct LatencyChart: Sendable {
    struct Line: Sendable { var name, points: String }
    struct Mark: Sendable { var y, textY, label: String }

    /// The size of the drawing, in its own units.
    static let width = 320.0
    static let height = 120.0
    private static let left = 44.0
    private static let top = 8.0
    private static let bottom = 104.0
    /// The fewest polls that the drawing is wide: five minutes.
    private static let minPoints = 60

    var name: String
    var title: String
    var description: String
    var p50: String
    var p95: String
    var p99: String
    var count: String
    var hasPoints: Bool
    var lines: [Line]
    var marks: [Mark]
    /// The time at the left end.
    var start: String

    init(_ latency: Overview.Latency) {
        let text = { (value: Double?) in value.map(Self.text) ?? "–" }
        name = latency.name
        title = latency.title
        (p50, p95, p99) = (text(latency.p50Milliseconds), text(latency.p95Milliseconds), text(latency.p99Milliseconds))
        count = latency.count.formatted
        let values = latency.points.flatMap { [$0.p50Milliseconds, $0.p99Milliseconds] }.compactMap { $0 }
            .filter { $0 > 0 }
        hasPoints = !values.isEmpty
        description = "\(latency.title): median \(p50), 95th percentile \(p95), 99th percentile \(p99)"
        let decades = Self.decades(values)
        let y = { (value: Double) in
            let share =
                (Self.log10(max(value, 0.001)) - Double(decades.lowerBound))
                / Double(decades.upperBound - decades.lowerBound)
            return Self.bottom - min(1, max(0, share)) * (Self.bottom - Self.top)
        }
        marks = decades.map { decade in
            let place = y(Self.power(decade))
            return Mark(y: Self.number(place), textY: Self.number(place + 3.5), label: Self.text(Self.power(decade)))
        }
        let points = latency.points
        start = "\((max(Self.minPoints, points.count) * 5 + 30) / 60) min ago"
        let drawn: [(String, (Overview.LatencyPoint) -> Double?)] = [
            ("p99", { $0.p99Milliseconds }), ("p95", { $0.p95Milliseconds }), ("p50", { $0.p50Milliseconds }),
        ]
        lines = drawn.flatMap { name, value in
            Self.runs(points.map(value)).map { run in
                let places = run.map { index, value in
                    "\(Self.number(Self.x(index, of: points.count))),\(Self.number(y(value)))"
                }
                return Line(name: name, points: places.joined(separator: " "))
            }
        }
    }

    /// The parts without gaps, each with at least two points so that it is visible.
    private static func runs(_ values: [Double?]) -> [[(index: Int, value: Double)]] {
        var runs: [[(index: Int, value: Double)]] = [[]]
        for (index, value) in values.enumerated() {
            if let value {
                runs[runs.count - 1].append((index, value))
            } else if runs.last?.isEmpty == false {
                runs.append([])
            }
        }
        return runs.filter { !$0.isEmpty }.map { run in
            run.count > 1 ? run : [run[0], (run[0].index + 1, run[0].value)]
        }
    }

    /// The newest point is at the right end; the oldest at the left, or a part of the way while there are few.
    private static func x(_ index: Int, of count: Int) -> Double {
        let age = Double(max(0, count - 1 - index)) / Double(max(minPoints, count) - 1)
        return width - min(1, age) * (width - left)
    }

    /// The powers of ten around the values.
    private static func decades(_ values: [Double]) -> ClosedRange<Int> {
        guard let low = values.min(), let high = values.max() else { return 0...3 }
        let first = Int(log10(max(low, 0.001)).rounded(.down))
        return first...max(first + 1, Int(log10(min(max(high, 0.001), 1e9)).rounded(.up)))
    }

    private static func log10(_ value: Double) -> Double {
        guard value.isFinite else { return 0 }
        // Without Foundation: the exponent, and the rest by squaring.
        var (result, rest, step) = (0.0, value, 1.0)
        while rest >= 10 { (rest, result) = (rest / 10, result + 1) }
        while rest < 1 { (rest, result) = (rest * 10, result - 1) }
        for _ in 0..<20 {
            rest *= rest
            step /= 2
            if rest >= 10 { (rest, result) = (rest / 10, result + step) }
        }
        return result
    }

    private static func power(_ decade: Int) -> Double {
        (0..<abs(decade)).reduce(1.0) { value, _ in decade < 0 ? value / 10 : value * 10 }
    }

    private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    private static func text(_ milliseconds: Double) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds.short) ms"
        case ..<120_000: "\((milliseconds / 1000).short) s"
        default: (Int(exactly: (milliseconds / 1000).rounded()) ?? 0).spokenSeconds
        }
    }
}
