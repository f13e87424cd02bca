import ServiceRuntime
import Testing

@testable import PushServices

@Suite struct PushClientMetricsTests {
    /// Two hubs, or one hub whose credentials have changed.
    @Test func `The connections of clients with one name are counted together`() {
        let metrics = PrometheusMetrics()
        let first = PushClientMetrics(client: "apns", factory: metrics)
        first.countOpened()
        first.countOpened()
        let second = PushClientMetrics(client: "apns", factory: metrics)
        second.countOpened()
        let line = #"securepush_push_connections{client="apns"} "#
        #expect(metrics.exposition().contains(line + "3\n"))
        first.countClosed()
        first.countClosed()
        #expect(metrics.exposition().contains(line + "1\n"))
    }
}
