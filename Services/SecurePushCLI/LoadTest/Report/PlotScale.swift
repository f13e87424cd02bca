import Foundation

/// Maps the values of one axis to 0...1 and chooses its ticks.
struct PlotScale: Sendable, Equatable {
    enum Kind: Sendable {
        case linear
        case logarithmic
        /// Percents of a distribution: each further nine (90, 99, 99.9) takes as much room as the one before.
        case nines
    }

    let kind: Kind
    let ticks: [Double]
    private let low: Double
    private let high: Double

    /// A linear scale from 0 to a round number that holds all values.
    init(linear values: some Sequence<Double>, ticks count: Int = 5) {
        kind = .linear
        let maximum = max(values.max() ?? 0, 1e-6)
        let step = PlotScale.roundStep(maximum / Double(count))
        let steps = max(1, (maximum / step - 1e-9).rounded(.up))
        low = 0
        high = steps * step
        ticks = (0...Int(steps)).map { Double($0) * step }
    }

    /// A linear scale from 0 to exactly this value.
    init(upTo end: Double, ticks count: Int = 6) {
        kind = .linear
        low = 0
        high = max(end, 1e-6)
        let step = PlotScale.roundStep(high / Double(count))
        ticks = (0...Int((high / step + 1e-9).rounded(.down))).map { Double($0) * step }
    }

    /// A logarithmic scale that holds all values; those below 0.01 count as 0.01.
    init(logarithmic values: some Sequence<Double>) {
        kind = .logarithmic
        let known = values.map { max($0, PlotScale.least) }
        let least = known.min() ?? 1
        let most = max(known.max() ?? 10, least)
        let (first, last) = (Int(log10(least).rounded(.down)), Int(log10(most).rounded(.up)))
        let marks = (first...max(last, first)).flatMap { power in [1.0, 2, 5].map { $0 * pow(10, Double(power)) } }
        let from = marks.last { $0 <= least * (1 + 1e-9) } ?? least
        let to = marks.first { $0 >= most * (1 - 1e-9) && $0 > from } ?? max(most, from * 2)
        low = log10(from)
        high = log10(to)
        let inside = marks.filter { $0 >= from && $0 <= to }
        ticks = inside.count <= 8 ? inside : inside.filter { PlotScale.isPowerOfTen($0) }
    }

    /// A scale of percents up to the last one.
    init(percentsUpTo last: Double) {
        kind = .nines
        low = 0
        high = max(PlotScale.nines(last), 1)
        ticks = [0, 50, 90, 99, 99.9, 99.99].filter { $0 <= last }
    }

    /// 0 to 1 for values within the scale, clamped.
    func position(_ value: Double) -> Double {
        let place =
            switch kind {
            case .linear: value
            case .logarithmic: log10(max(value, PlotScale.least))
            case .nines: PlotScale.nines(value)
            }
        return min(1, max(0, (place - low) / (high - low)))
    }

    private static let least = 0.01

    private static func nines(_ percent: Double) -> Double { -log10(max(1 - percent / 100, 1e-9)) }

    private static func isPowerOfTen(_ value: Double) -> Bool { abs(log10(value) - log10(value).rounded()) < 1e-9 }

    /// 1, 2 or 5 times a power of ten, at least as large as this.
    private static func roundStep(_ least: Double) -> Double {
        let power = pow(10, log10(least).rounded(.down))
        return ([1.0, 2, 5, 10].first { $0 * power >= least * (1 - 1e-9) } ?? 10) * power
    }
}
