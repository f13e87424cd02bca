import CoreMetrics
import HTTPTypes
import Synchronization

/// `securepush_http_requests_total` and `securepush_http_request_duration_seconds`: one pair for each route, method and
/// status that occurred. Routes are templates, so there are few.
final class HTTPInstruments: Sendable {
    private struct Key: Hashable {
        let route: String
        /// The result of ``methodLabel(_:)``.
        let method: String
        let status: Int
    }

    private struct Pair {
        let requests: Counter
        let duration: Timer
    }

    private let metrics: PrometheusMetrics
    private let pairs = Mutex<[Key: Pair]>([:])

    /// Instruments of the same metrics share their series.
    init(metrics: PrometheusMetrics) { self.metrics = metrics }

    /// Counts one request.
    ///
    /// - Parameters:
    ///   - route: the template, for example `/{hub}/messages`.
    ///   - nanoseconds: from the head of the request to its answer.
    func record(route: String, method: HTTPRequest.Method, status: Int, nanoseconds: Int64) {
        let key = Key(route: route, method: Self.methodLabel(method), status: status)
        let pair = pairs.withLock { pairs in
            if let known = pairs[key] { return known }
            let pair = make(key)
            pairs[key] = pair
            return pair
        }
        pair.requests.increment(by: 1)
        pair.duration.recordNanoseconds(nanoseconds)
    }

    private func make(_ key: Key) -> Pair {
        Pair(
            requests: Metric.httpRequests.counter(key.method, key.route, "\(key.status)", in: metrics),
            duration: Metric.httpRequestDuration.timer(key.method, key.route, "\(key.status)", in: metrics))
    }

    /// `other` for unusual methods: clients can invent methods, and each series would be kept for ever.
    static func methodLabel(_ method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options: method.rawValue
        default: "other"
        }
    }

    /// The number of pairs; for tests.
    var count: Int { pairs.withLock { $0.count } }

    /// Whether the method is a standard one (RFC 9110, section 9; PATCH of RFC 5789; QUERY). Of these, a path answers
    /// 405 to those that it does not take. Every other method gets 501 before anything else is done.
    static func knows(_ method: HTTPRequest.Method) -> Bool {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect: true
        default: method.rawValue == "QUERY"
        }
    }
}
