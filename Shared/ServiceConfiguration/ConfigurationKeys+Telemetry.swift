import SecurePushCore

extension ConfigurationKeys {
    /// The key `ACCESS_LOG`.
    package static let accessLog = ConfigurationKey(
        "ACCESS_LOG", .boolean, default: "false",
        meaning: "Log a line at level info for each request: route, status, bytes, duration, the client's address, "
            + "request and trace ID; not for /livez, /readyz, /metrics and /version")

    /// The key `AUDIT_LOG`.
    package static let auditLog = ConfigurationKey(
        "AUDIT_LOG", .string(hint: "FILE"), defaultText: "no audit log",
        meaning: "File to which each read, refusal, registration, change of keys and administrative action appends a "
            + "line; - for standard output. While it cannot be written, these requests get 503")

    /// The key `OTEL_EXPORTER_OTLP_ENDPOINT`.
    package static let otlpEndpoint = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_ENDPOINT", .string(hint: "URL"), defaultText: "no tracing",
        meaning: "Base URL of an OpenTelemetry collector, such as http://127.0.0.1:4318: spans are posted to its "
            + "/v1/traces as OTLP/HTTP in JSON")

    /// The key `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`.
    package static let otlpTracesEndpoint = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", .string(hint: "URL"),
        meaning: "Whole URL that spans are posted to, instead of OTEL_EXPORTER_OTLP_ENDPOINT and /v1/traces")

    /// The key `OTEL_EXPORTER_OTLP_HEADERS`.
    package static let otlpHeaders = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_HEADERS", .headerFields, isSecret: true,
        meaning: "Header fields for the collector, such as api-key=SECRET, separated by commas; values are "
            + "percent-decoded")

    /// The key `OTEL_EXPORTER_OTLP_HEADERS_FILE`.
    package static let otlpHeadersFile = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_HEADERS_FILE", .existingFile,
        meaning: "File with the header fields for the collector, instead of OTEL_EXPORTER_OTLP_HEADERS; read at start")

    /// The key `OTEL_EXPORTER_OTLP_TIMEOUT`.
    package static let otlpTimeout = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_TIMEOUT", .millisecondsOrDuration(.milliseconds(1) ... .seconds(3600)), default: "10s",
        meaning: "Time for one request to the collector; a number without a unit is milliseconds")

    /// The key `OTEL_SERVICE_NAME`.
    package static let otelServiceName = ConfigurationKey(
        "OTEL_SERVICE_NAME", .string(hint: "NAME"), defaultText: "the service's name",
        meaning: "service.name of the spans")

    /// The key `OTEL_TRACES_SAMPLER`.
    package static let tracesSampler = ConfigurationKey(
        "OTEL_TRACES_SAMPLER", .oneOf(TracesSampler.self, hint: "SAMPLER"), default: "parentbased_always_on",
        meaning: "Which traces are recorded: always_on, always_off, traceidratio, or the same after parentbased_, "
            + "which follows the caller's traceparent where there is one")

    /// The key `OTEL_TRACES_SAMPLER_ARG`.
    package static let tracesSamplerArgument = ConfigurationKey(
        "OTEL_TRACES_SAMPLER_ARG", .share, defaultText: "1",
        meaning: "Share of the traces that traceidratio records, from 0 to 1")
}

/// The samplers of `OTEL_TRACES_SAMPLER` (OpenTelemetry, "SDK environment variables").
package enum TracesSampler: String, CaseIterable, Sendable {
    /// Records all.
    case alwaysOn = "always_on"
    /// Records none.
    case alwaysOff = "always_off"
    /// Records a share.
    case traceIDRatio = "traceidratio"
    /// Follows the parent; records all traces that begin here.
    case parentBasedAlwaysOn = "parentbased_always_on"
    /// Follows the parent; records no trace that begins here.
    case parentBasedAlwaysOff = "parentbased_always_off"
    /// Follows the parent; records a share of the traces that begin here.
    case parentBasedTraceIDRatio = "parentbased_traceidratio"
}

/// A header field of requests to a collector.
package struct CollectorHeader: Sendable, Hashable {
    /// A token (RFC 9110, 5.6.2).
    package let name: String
    /// Visible ASCII and blanks.
    package let value: String

    /// Makes a field of a valid name and value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension ConfigurationParser where Value == [CollectorHeader] {
    /// `name=value`, separated by commas, with percent-encoded values (W3C Baggage without properties). At most 32.
    static var headerFields: Self {
        ConfigurationParser(hint: "FIELDS") { text throws(ConfigurationRefusal) in
            let items = OutsideText.parts(text, at: ",").filter { !$0.isEmpty }
            guard items.count <= 32 else { throw ConfigurationRefusal("has more than 32 header fields") }
            var fields: [CollectorHeader] = []
            for item in items {
                let parts = OutsideText.parts(item, at: "=", maxSplits: 1)
                let name = OutsideText.trimmed(parts[0])
                guard parts.count == 2, !name.isEmpty, token.containsAll(name),
                    let value = PercentCoding.decode(OutsideText.trimmed(parts[1])), fieldValue.containsAll(value)
                else { throw ConfigurationRefusal("is not name=value with percent-encoded values") }
                fields.append(CollectorHeader(name: name, value: OutsideText.trimmed(value)))
            }
            return fields
        }
    }

    private static var token: ByteSet {
        ByteSet("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    }

    private static var fieldValue: ByteSet { ByteSet(0x20...0x7E) }
}

extension ConfigurationParser where Value == Duration {
    /// A duration, or a whole number of milliseconds, as OpenTelemetry's variables have it.
    static func millisecondsOrDuration(_ range: ClosedRange<Duration>) -> Self {
        let duration = duration(range)
        return ConfigurationParser(hint: "DURATION") { text throws(ConfigurationRefusal) in
            try duration.parse(Int64(text) == nil ? text : text + "ms")
        }
    }
}

extension ConfigurationParser where Value == Double {
    /// A number from 0 to 1.
    static var share: Self {
        ConfigurationParser(hint: "SHARE") { text throws(ConfigurationRefusal) in
            guard let share = Double(text), (0...1).contains(share) else {
                throw ConfigurationRefusal("is not a number from 0 to 1")
            }
            return share
        }
    }
}
