package import CoreMetrics

/// One metric family: its documentation, and the maker of its instruments.
package struct Metric: Sendable, Hashable {
    /// The kind of a family, and the upper bounds of a histogram's buckets.
    package enum Kind: Sendable, Hashable {
        case counter
        case gauge
        case histogram(buckets: [Double])

        /// The word of `# TYPE`.
        package var word: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    /// With its unit: `..._total`, `..._seconds`, `..._bytes` (Prometheus, "Metric and label naming").
    package let name: String
    package let kind: Kind
    package let labels: [String]
    /// The executables that have it.
    package let services: [String]
    /// The `# HELP` line.
    package let help: String

    package init(_ name: String, _ kind: Kind, labels: [String] = [], of services: [String], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.services = services
        self.help = help
    }
}

// MARK: - Instruments

extension Metric {
    /// The instrument of one series.
    ///
    /// - Parameter values: of the ``labels``, in their order.
    package func counter(_ values: String..., in factory: any MetricsFactory = MetricsSystem.factory) -> Counter {
        Counter(label: name, dimensions: dimensions(values), factory: factory)
    }

    /// A counter per value of the only label.
    package func counters<Label: Hashable & RawRepresentable<String>>(
        _ values: [Label], in factory: any MetricsFactory = MetricsSystem.factory
    ) -> [Label: Counter] {
        Dictionary(values.map { ($0, counter($0.rawValue, in: factory)) }) { first, _ in first }
    }

    package func gauge(_ values: String...) -> Gauge { Gauge(label: name, dimensions: dimensions(values)) }

    package func timer(
        _ values: String..., in factory: any MetricsFactory = MetricsSystem.factory
    ) -> CoreMetrics.Timer {
        Timer(label: name, dimensions: dimensions(values), preferredDisplayUnit: .seconds, factory: factory)
    }

    func dimensions(_ values: [String]) -> [(String, String)] {
        assert(values.count == labels.count, "\(name) has the labels \(labels)")
        return Array(zip(labels, values))
    }
}

extension Metric.Kind {
    /// For requests and messages: the bounds that OpenTelemetry advises for HTTP and messaging, in seconds.
    static let duration = Self.histogram(buckets: PrometheusMetrics.defaultBuckets)

    /// For store batches and broker confirms, which take milliseconds, in seconds.
    static let shortDuration = Self.histogram(
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])

    /// For the way from an application server's request to a person's device: seconds to a day.
    static let delay = Self.histogram(
        buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400])
}
