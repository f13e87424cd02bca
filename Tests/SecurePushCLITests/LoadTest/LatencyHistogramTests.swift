import Testing

@testable import SecurePushCLI

@Suite struct LatencyHistogramTests {
    @Test func `Percentiles have three significant digits; mean, minimum and maximum are exact`() {
        var histogram = LatencyHistogram()
        for milliseconds in 1...10_000 { histogram.record(.milliseconds(milliseconds)) }
        #expect(histogram.count == 10_000)
        #expect(histogram.mean == 5_000_500)
        #expect(histogram.maximum == 10_000_000)
        for percent in [50, 90, 95, 99, 99.9] {
            let exact = percent * 100_000
            #expect(abs(Double(histogram.percentile(percent)) - exact) <= exact / 1000)
        }
        #expect(histogram.percentile(100) == 10_000_000)
    }

    @Test func `An empty histogram has figures of 0`() {
        let histogram = LatencyHistogram()
        #expect(histogram.percentile(99) == 0 && histogram.mean == 0 && histogram.maximum == 0)
        #expect(LatencySummary(histogram).cells == ["0"] + Array(repeating: "0.00", count: 7))
    }

    @Test(
        arguments: [
            (0, "0.00"), (9.994, "9.99"), (99.94, "99.9"), (1234.4, "1,234"), (1e300, "-"), (.infinity, "-"),
            (.nan, "-"), (-1, "-"),
        ] as [(Double, String)])
    func `Milliseconds of any size become text`(milliseconds: Double, text: String) {
        #expect(LatencySummary.text(milliseconds) == text)
    }

    @Test func `A negative duration counts as 0`() {
        var histogram = LatencyHistogram()
        histogram.record(.seconds(-5))
        #expect(histogram.percentile(100) == 0 && histogram.count == 1)
    }
}
