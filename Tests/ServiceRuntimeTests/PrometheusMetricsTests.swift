import CoreMetrics
import ServiceRuntime
import Testing

@Suite("Prometheus text")
struct PrometheusMetricsTests {
    @Test func `The text is exact`() {
        let metrics = PrometheusMetrics(catalog: [
            Metric("b_total", .counter, of: [], "Counts\nb \\ \"quoted\"."),
            Metric("c_seconds", .histogram(buckets: [0.1, 1]), of: [], "Times."),
        ])
        Counter(label: "b_total", dimensions: [("z", "1"), ("a", "x\"y\\z\nq")], factory: metrics).increment(by: 3)
        Counter(label: "b_total", dimensions: [("a", "0"), ("z", "1")], factory: metrics).increment()
        Gauge(label: "a_bytes", factory: metrics).record(1.5)
        let timer = Timer(label: "c_seconds", dimensions: [("p", "apple")], factory: metrics)
        timer.recordMilliseconds(50)
        timer.recordMilliseconds(100)
        timer.recordSeconds(2)
        #expect(
            metrics.exposition() == #"""
                # TYPE a_bytes gauge
                a_bytes 1.5
                # HELP b_total Counts\nb \\ "quoted".
                # TYPE b_total counter
                b_total{a="0",z="1"} 1
                b_total{a="x\"y\\z\nq",z="1"} 3
                # HELP c_seconds Times.
                # TYPE c_seconds histogram
                c_seconds_bucket{p="apple",le="0.1"} 2
                c_seconds_bucket{p="apple",le="1"} 2
                c_seconds_bucket{p="apple",le="+Inf"} 3
                c_seconds_sum{p="apple"} 2.15
                c_seconds_count{p="apple"} 3

                """#)
    }

    @Test func `Every kind of instrument is written`() {
        let metrics = PrometheusMetrics(catalog: [
            Metric("r_items", .histogram(buckets: [10]), of: [], "Items.")
        ])
        FloatingPointCounter(label: "f_total", factory: metrics).increment(by: 0.5)
        let meter = Meter(label: "m", factory: metrics)
        meter.set(5)
        meter.increment(by: 2.0)
        meter.decrement()
        Recorder(label: "r_items", factory: metrics).record(7)
        metrics.observe(Metric("o", .gauge, of: [], "")) { nil }
        metrics.observe(Metric("p_total", .counter, labels: ["a"], of: [], ""), "b") { .infinity }
        #expect(
            metrics.exposition() == """
                # TYPE f_total counter
                f_total 0.5
                # TYPE m gauge
                m 6
                # TYPE o gauge
                # TYPE p_total counter
                p_total{a="b"} +Inf
                # HELP r_items Items.
                # TYPE r_items histogram
                r_items_bucket{le="10"} 1
                r_items_bucket{le="+Inf"} 1
                r_items_sum 7
                r_items_count 1

                """)
    }

    @Test func `Equal labels are one instrument`() {
        let metrics = PrometheusMetrics()
        Counter(label: "a.b-c", dimensions: [("1x", "v")], factory: metrics).increment()
        Counter(label: "a.b-c", dimensions: [("1x", "v")], factory: metrics).increment()
        #expect(metrics.exposition() == "# TYPE a_b_c counter\na_b_c{_1x=\"v\"} 2\n")
    }

    @Test func `Another kind of the same name is not shown`() {
        let metrics = PrometheusMetrics()
        Counter(label: "a", factory: metrics).increment()
        Gauge(label: "a", factory: metrics).record(9)
        FloatingPointCounter(label: "a", factory: metrics).increment(by: 9)
        #expect(metrics.exposition() == "# TYPE a counter\na 1\n")
    }

    @Test func `Instruments can be reset and destroyed`() {
        let metrics = PrometheusMetrics()
        let first = Counter(label: "a", dimensions: [("n", "1")], factory: metrics)
        let second = Counter(label: "a", dimensions: [("n", "2")], factory: metrics)
        first.increment()
        second.increment()
        first.reset()
        second.destroy()
        #expect(metrics.exposition() == "# TYPE a counter\na{n=\"1\"} 0\n")
        first.destroy()
        #expect(metrics.exposition() == "")
    }

    @Test func `Many tasks count at once`() async {
        let metrics = PrometheusMetrics(catalog: [
            Metric("b_seconds", .histogram(buckets: [1]), of: [], "Times.")
        ])
        let counter = Counter(label: "a_total", factory: metrics)
        let timer = Timer(label: "b_seconds", factory: metrics)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        counter.increment()
                        timer.recordNanoseconds(500_000_000)
                    }
                }
            }
        }
        #expect(metrics.exposition().contains("a_total 8000\n"))
        #expect(metrics.exposition().contains("b_seconds_bucket{le=\"1\"} 8000\n"))
        #expect(metrics.exposition().contains("b_seconds_sum 4000\n"))
    }
}
