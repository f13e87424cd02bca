import ServiceRuntime
import Testing

@testable import SecurePushCLI

@Suite struct PrometheusTests {
    private static let text = #"""
        # HELP requests_total Requests, by "route" {and} more.
        # TYPE requests_total counter
        requests_total{method="GET",route="/a"} 3
        requests_total{route="/b", method="GET",} 4 1700000000000
        plain 1.5e3
        odd{text="a\"b\\c\nd,e}f"} +Inf
        nan NaN
        time_bucket{le="0.1"} 1
        time_bucket{le="1"} 3
        time_bucket{le="+Inf"} 3

        broken{a="b"
        broken{a=b} 1
        broken one
        1broken
        """#

    @Test func `Names, labels and values`() {
        let samples = PrometheusSamples(Self.text)
        #expect(samples.sum("requests_total") == 7)
        #expect(samples.sum("requests_total", ["route": "/b"]) == 4)
        #expect(samples.sum("requests_total", ["route": "/c"]) == nil)
        #expect(samples.sums("requests_total", by: "route") == ["/a": 3, "/b": 4])
        #expect(samples.sum("plain") == 1500)
        #expect(samples["odd"] == [.init(labels: ["text": "a\"b\\c\nd,e}f"], value: .infinity)])
        #expect(samples.sum("nan")?.isNaN == true)
        #expect(samples["broken"].isEmpty)
        #expect(samples.buckets("time").map(\.bound) == [0.1, 1, .infinity])
    }

    private func window(_ before: String, _ after: String, seconds: Double = 2) -> MetricsWindow {
        MetricsWindow(before: PrometheusSamples(before), after: PrometheusSamples(after), seconds: seconds)
    }

    @Test func `Rates are the growth between two looks`() {
        let window = window("a{x=\"1\"} 10\na{x=\"2\"} 5", "a{x=\"1\"} 16\na{x=\"2\"} 5\nb 4")
        #expect(window.rate("a") == 3)
        #expect(window.rate("b") == 2)
        #expect(window.rate("c") == nil)
        #expect(window.rates("a", by: "x") == ["1": 3])
    }

    @Test func `A process that was started anew has no rates yet`() {
        let window = window("process_start_time_seconds 100\na 10", "process_start_time_seconds 200\na 3")
        #expect(window.rate("a") == nil)
        #expect(window.quantile(0.5, "t") == nil)
        #expect(MetricsWindow(before: nil, after: PrometheusSamples("a 3"), seconds: 0).rate("a") == nil)
    }

    @Test func `Quantiles are of what came between the looks`() throws {
        let bounds = ["0.1", "0.2", "+Inf"]
        func text(_ counts: [Int]) -> String {
            zip(bounds, counts).map { "t_bucket{le=\"\($0)\"} \($1)" }.joined(separator: "\n")
        }
        let even = window(text([100, 100, 100]), text([150, 200, 200]))
        #expect(try #require(even.quantile(0.25, "t")) == 0.05)
        #expect(try #require(even.quantile(0.5, "t")) == 0.1)
        #expect(abs(try #require(even.quantile(0.75, "t")) - 0.15) < 1e-9)
        // Above the last bound nothing is known but the bound.
        #expect(window(text([0, 0, 0]), text([0, 0, 5])).quantile(0.5, "t") == 0.2)
        #expect(window(text([1, 2, 3]), text([1, 2, 3])).quantile(0.5, "t") == nil)
    }
}
