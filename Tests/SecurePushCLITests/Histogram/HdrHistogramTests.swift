import Testing

@testable import SecurePushCLI

@Suite struct HdrHistogramTests {
    /// The smallest value that so many percent of all do not exceed: the definition, on the sorted values themselves.
    private func percentile(_ percent: Double, of sorted: [Int64]) -> Int64 {
        sorted[max(1, Int((percent / 100 * Double(sorted.count)).rounded(.up))) - 1]
    }

    @Test(arguments: [Int64(100), 5_000, 3_000_000, 90_000_000_000, .max])
    func `Percentiles are those of the sorted values, to a thousandth`(limit: Int64) {
        var generator = SystemRandomNumberGenerator()
        // Small values more often, as latencies are.
        let values = (0..<5_000).map { _ in
            Int64.random(in: 0...Int64.random(in: 0...limit, using: &generator), using: &generator)
        }
        var histogram = HdrHistogram()
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for percent in [0, 0.01, 1, 25, 50, 90, 95, 99, 99.9, 99.99, 100] {
            let exact = percentile(percent, of: sorted)
            let found = histogram.percentile(percent)
            #expect(found >= exact)
            #expect(found - exact <= exact / 1000, "\(percent): \(found) for \(exact)")
        }
        #expect(histogram.count == values.count)
        #expect(histogram.minimum == sorted.first)
        #expect(histogram.maximum == sorted.last)
        let mean = values.reduce(0.0) { $0 + Double($1) } / Double(values.count)
        #expect(abs(histogram.mean - mean) <= mean * 1e-9)
    }

    @Test func `Values up to 2,047 are exact, and each bucket's edge is counted on its own side`() {
        for value in [Int64(0), 1, 2046, 2047, 2048, 2049, 4095, 4096, 1 << 40, (1 << 40) - 1, .max] {
            var histogram = HdrHistogram()
            histogram.record(value)
            #expect(histogram.percentile(50) == value)
        }
        var histogram = HdrHistogram()
        for value in Int64(0)...2047 { histogram.record(value) }
        for value in stride(from: Int64(0), through: 2047, by: 89) {
            #expect(histogram.percentile(Double(value + 1) / 20.48) == value)
        }
    }

    @Test func `Two that are merged are as one that has seen everything`() {
        var (first, second, all) = (HdrHistogram(), HdrHistogram(), HdrHistogram())
        for index in 0..<5000 {
            let value = Int64.random(in: 0...(index.isMultiple(of: 2) ? 50 : 5_000_000))
            if index.isMultiple(of: 2) { first.record(value) } else { second.record(value) }
            all.record(value)
        }
        var merged = first
        merged.merge(second)
        merged.merge(HdrHistogram())
        #expect(merged.count == all.count)
        #expect(merged.minimum == all.minimum)
        #expect(merged.maximum == all.maximum)
        for percent in [1.0, 50, 75, 99, 100] { #expect(merged.percentile(percent) == all.percentile(percent)) }
        var empty = HdrHistogram()
        empty.merge(first)
        #expect(empty == first)
    }

    @Test func `Nothing recorded`() {
        let histogram = HdrHistogram()
        #expect(histogram.percentile(99) == 0)
        #expect(histogram.mean == 0)
        #expect(LatencySummary(histogram).cells == ["0"] + Array(repeating: "0.00", count: 7))
    }

    @Test func `A negative value counts as none`() {
        var histogram = HdrHistogram()
        histogram.record(-5)
        #expect(histogram.percentile(100) == 0)
        #expect(histogram.count == 1)
    }
}
