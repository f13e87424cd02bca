import Foundation

/// The figures of a load test beside those of an earlier one.
struct LoadComparison: Codable, Sendable, Equatable {
    /// How the words for a difference are chosen.
    enum Kind: String, Codable, Sendable {
        /// A larger value is slower.
        case time
        case rate
    }

    struct Line: Codable, Sendable, Equatable {
        /// `accept p99, ms`
        var name: String
        var kind: Kind
        var earlier: Double
        var now: Double
        /// `now` divided by `earlier`; `nil` if `earlier` is 0, or too small for a number.
        var ratio: Double?
        /// `slower by 12 %`
        var words: String

        private enum CodingKeys: String, CodingKey {
            case name = "Figure", kind = "Kind", earlier = "Earlier", now = "Now", ratio = "Ratio", words = "Words"
        }

        init(_ name: String, _ kind: Kind, earlier: Double, now: Double) {
            self.name = name
            self.kind = kind
            self.earlier = earlier
            self.now = now
            let quotient = (now / earlier).rounded(toPlaces: 4)
            ratio = earlier > 0 && quotient.isFinite ? quotient : nil
            words = LoadComparison.words(kind, earlier: earlier, now: now)
        }

        /// Whether it became worse (below 0), better (above 0) or stayed the same.
        var change: Int {
            if LoadComparison.isSame(earlier, now) || earlier == 0 { return 0 }
            return (now > earlier) == (kind == .rate) ? 1 : -1
        }
    }

    /// When the earlier test began.
    var startedAt: String?
    var lines: [Line]
    /// What differs in the two plans or machines, as sentences. Such tests are compared with care.
    var differences: [String]

    private enum CodingKeys: String, CodingKey {
        case startedAt = "StartedAt", lines = "Figures", differences = "Differences"
    }

    init(_ now: LoadReport, against earlier: LoadReport) {
        startedAt = earlier.startedAt
        lines = LoadComparison.lines(now, earlier)
        differences = LoadComparison.differences(now, earlier)
    }

    /// Up to 3 % in either direction is the same: two runs of one system differ by as much.
    static let tolerance = 3.0

    static func isSame(_ earlier: Double, _ now: Double) -> Bool {
        // Compared without a division, and with room for its last digits: 970 and 1,030 are within 3 % of 1,000.
        abs(now - earlier) * 100 <= tolerance * abs(earlier) * (1 + 1e-9)
    }

    static func words(_ kind: Kind, earlier: Double, now: Double) -> String {
        if isSame(earlier, now) { return "the same" }
        guard earlier > 0 else { return "it was 0" }
        let percent = abs(now / earlier - 1) * 100
        let word =
            switch (kind, now > earlier) {
            case (.time, true): "slower"
            case (.time, false): "faster"
            case (.rate, true): "higher"
            case (.rate, false): "lower"
            }
        return "\(word) by \(percent < 10 ? String(format: "%.1f", percent) : percent.figureWithoutPlaces) %"
    }

    private static func lines(_ now: LoadReport, _ earlier: LoadReport) -> [Line] {
        var lines = [
            Line("accepted per second", .rate, earlier: earlier.acceptedPerSecond, now: now.acceptedPerSecond)
        ]
        func add(_ name: String, _ kind: Kind, _ old: Double?, _ new: Double?) {
            if let old, let new { lines.append(Line(name, kind, earlier: old, now: new)) }
        }
        func add(_ stage: String, _ old: LatencySummary?, _ new: LatencySummary?) {
            guard let old, let new, old.count > 0, new.count > 0 else { return }
            add("\(stage) mean, ms", .time, old.mean, new.mean)
            for (percent, values) in zip(LatencySummary.heads.dropFirst(2), zip(old.values, new.values)) {
                add("\(stage) \(percent), ms", .time, values.0, values.1)
            }
        }
        add(
            "dispatched per second", .rate, earlier.dispatch?.dispatchedPerSecond, now.dispatch?.dispatchedPerSecond)
        add("drained, s", .time, earlier.dispatch?.drainSeconds, now.dispatch?.drainSeconds)
        add("accept", earlier.acceptLatency, now.acceptLatency)
        add("dispatch", earlier.dispatch?.latency, now.dispatch?.latency)
        add("read", earlier.read?.latency, now.read?.latency)
        return lines
    }

    private static func differences(_ now: LoadReport, _ earlier: LoadReport) -> [String] {
        func text(_ value: Int?) -> String { value.map(\.grouped) ?? "none" }
        let pairs: [(String, Int?, Int?)] = [
            ("notifications", earlier.count, now.count), ("recipients", earlier.recipients, now.recipients),
            ("bytes of payload", earlier.payloadBytes, now.payloadBytes),
            ("concurrent requests", earlier.concurrency, now.concurrency),
            ("notifications per batch", earlier.batch, now.batch),
            ("rate per second", earlier.ratePerSecond, now.ratePerSecond),
            ("devices", earlier.read?.devices, now.read?.devices),
            ("processors", earlier.machine?.processors ?? now.machine?.processors, now.machine?.processors),
        ]
        var found = pairs.compactMap { name, old, new in
            old == new ? nil : "The \(name) differ: \(text(old)) then, \(text(new)) now."
        }
        if let old = earlier.machine?.isDebugBuild, let new = now.machine?.isDebugBuild, old != new {
            found.append("One of the two programs is a debug build.")
        }
        if earlier.interrupted { found.append("The earlier test was interrupted.") }
        return found
    }
}

extension LoadComparison {
    /// For people: a table of the figures, then the differences of the plans.
    func text(styled: (String, Style) -> String) -> [String] {
        var table = TextTable()
        table.add(["against \(startedAt?.oneLine ?? "an earlier test")", "then", "now", ""])
        for line in lines {
            table.add([line.name, LatencySummary.text(line.earlier), LatencySummary.text(line.now), line.words])
        }
        let rows = table.lines
        let coloured = zip(lines, rows.dropFirst()).map { line, row in
            line.change == 0 ? row : styled(row, line.change < 0 ? .red : .green)
        }
        return [styled(rows[0], .bold)] + coloured + differences.map { styled($0, .yellow) }
    }
}

extension Double {
    fileprivate var figureWithoutPlaces: String { Int(clampingRounded: self).grouped }
}

extension Int {
    /// The nearest whole number; the largest one for what does not fit.
    init(clampingRounded value: Double) {
        self = value.isFinite && abs(value) < 1e15 ? Int(value.rounded()) : (value < 0 ? .min : .max)
    }
}
