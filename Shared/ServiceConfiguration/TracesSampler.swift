import Foundations

/// The samplers of `OTEL_TRACES_SAMPLER` (OpenTelemetry, "SDK environment variables").
package enum TracesSampler: String, CaseIterable, Sendable {
    case alwaysOn = "always_on"
    case alwaysOff = "always_off"
    case traceIDRatio = "traceidratio"
    /// Follows the parent; records all traces that begin here.
    case parentBasedAlwaysOn = "parentbased_always_on"
    /// Follows the parent; records no trace that begins here.
    case parentBasedAlwaysOff = "parentbased_always_off"
    /// Follows the parent; records a share of the traces that begin here.
    case parentBasedTraceIDRatio = "parentbased_traceidratio"
}

/// The exporters of `OTEL_TRACES_EXPORTER` that there are here.
package enum TracesExporter: String, CaseIterable, Sendable {
    case otlp
    /// Spans are not exported, so none are made.
    case none
}

/// A header field of requests to a collector.
package struct CollectorHeader: Sendable, Hashable {
    /// A token (RFC 9110, 5.6.2).
    package let name: String
    /// Visible ASCII and blanks.
    package let value: String

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
