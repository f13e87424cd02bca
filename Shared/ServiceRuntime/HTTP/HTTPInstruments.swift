import CoreMetrics
import HTTPTypes
import Synchronization

/// `securepush_http_requests_total` and `securepush_http_request_duration_seconds`, one pair for each route, method and
/// status that occurred. The routes are templates, so there are few.
final class HTTPInstruments: Sendable {
    private struct Key: Hashable {
        let route: String
        /// As ``methodLabel(_:)`` gives it: clients can invent methods, and each would be kept for ever.
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
    init(metrics: PrometheusMetrics) {
        self.metrics = metrics
    }

    /// Counts one request.
    ///
    /// - Parameters:
    ///   - route: the template, as `/{hub}/messages`.
    ///   - nanoseconds: from its head to its answer.
    func record(route: String, method: HTTPRequest.Method, status: Int, nanoseconds: Int64) {
        let key = Key(route: route, method: HTTPInstruments.methodLabel(method), status: status)
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
        let labels = [
            ("method", key.method), ("route", key.route), ("status", "\(key.status)"),
        ]
        return Pair(
            requests: Counter(label: "securepush_http_requests_total", dimensions: labels, factory: metrics),
            duration: Timer(
                label: "securepush_http_request_duration_seconds", dimensions: labels, preferredDisplayUnit: .seconds,
                factory: metrics))
    }

    /// Clients can invent methods; they must not be able to invent series.
    static func methodLabel(_ method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options: method.rawValue
        default: "other"
        }
    }

    /// How many pairs are held; for tests.
    var count: Int { pairs.withLock { $0.count } }

    /// Whether the method is one of the standard's (RFC 9110, section 9, and QUERY, RFC 5789's PATCH). What a path does
    /// not take of these is 405; every other method is 501, before anything else is done.
    static func knows(_ method: HTTPRequest.Method) -> Bool {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect: true
        default: method.rawValue == "QUERY"
        }
    }
}
