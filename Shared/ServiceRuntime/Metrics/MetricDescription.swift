/// One family of metrics as an operator reads of it: its name, what its series are, and when it counts.
public struct MetricDescription: Sendable, Hashable {
    /// What kind of numbers they are, and for histograms the upper bounds of the buckets.
    public enum Kind: Sendable, Hashable {
        case counter
        case gauge
        case histogram(buckets: [Double])

        /// The word of `# TYPE`.
        public var word: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    /// With its unit: `..._total`, `..._seconds`, `..._bytes` (Prometheus, "Metric and label naming").
    public let name: String
    public let kind: Kind
    public let labels: [String]
    /// The executables that show it.
    public let services: [String]
    /// The `# HELP` line.
    public let help: String

    public init(_ name: String, _ kind: Kind, labels: [String] = [], of services: [String], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.services = services
        self.help = help
    }
}

extension MetricDescription.Kind {
    /// Requests and messages: the bounds that OpenTelemetry advises for HTTP and messaging, in seconds.
    public static let duration = Self.histogram(buckets: PrometheusMetrics.defaultBuckets)

    /// Store batches and broker confirms, which take milliseconds, in seconds.
    public static let shortDuration = Self.histogram(
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])

    /// From an application server's request to a person's device: seconds to a day.
    public static let delay = Self.histogram(
        buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400])
}
