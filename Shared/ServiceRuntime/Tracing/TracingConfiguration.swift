import Foundations
import OutgoingHTTP
package import ServiceConfiguration

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where spans go, and which ones: OpenTelemetry's own variables ("OpenTelemetry Protocol Exporter" and "SDK
/// environment variables").
package struct TracingConfiguration: Sendable {
    /// The URL that batches of spans are posted to.
    var url: String
    /// Header fields of every request. Their values may be secret.
    var headers: [CollectorHeader] = []
    /// How long one request may take.
    var timeout = Duration.seconds(10)
    /// The trusted authorities and the proxies.
    var outgoing = OutgoingConfiguration()
    var sampler = SpanSampler.parentOr(true)
    /// `service.name` of the resource; `nil` for the executable's name.
    var serviceName: String?

    init(url: String) { self.url = url }

    /// Reads the variables. An `http://` endpoint beyond loopback is refused, unless `ALLOW_INSECURE` contains `otlp`.
    ///
    /// - Returns: `nil` without an endpoint or if tracing is turned off, which means that nothing is traced; or with an
    ///   issue, which is noted.
    package static func read(_ reader: inout ConfigurationReader) -> TracingConfiguration? {
        let isDisabled = reader[\.telemetryDisabled]
        let isUsed = reader[\.tracesExporter].contains(.otlp) && !isDisabled
        var configuration = TracingConfiguration(url: "")
        configuration.headers = reader[\.otlpHeaders, orFile: \.otlpHeadersFile] ?? []
        configuration.timeout = reader[\.otlpTimeout]
        configuration.serviceName = reader[\.otelServiceName]
        configuration.sampler = SpanSampler(
            reader[\.tracesSampler], share: reader[\.tracesSamplerArgument] ?? 1)
        // The path of a whole URL is used as it is, without /v1/traces.
        let whole = endpoint(\.otlpTracesEndpoint, path: "", isUsed: isUsed, &reader)
        let base = endpoint(\.otlpEndpoint, path: "/v1/traces", isUsed: isUsed, &reader)
        configuration.outgoing = OutgoingConfiguration.read(&reader)
        guard let url = whole ?? base, isUsed else { return nil }
        configuration.url = url
        return configuration
    }

    private static func endpoint(
        _ key: KeyPath<ConfigurationKeys, ConfigurationKey<String?>>, path: String, isUsed: Bool,
        _ reader: inout ConfigurationReader
    ) -> String? {
        guard let text = reader[key] else { return nil }
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user() == nil,
            url.password() == nil, url.query() == nil, url.fragment() == nil, let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else {
            reader.note(key, "is not an http:// or https:// URL without credentials, query and fragment")
            return nil
        }
        // NIO traps on other numbers.
        guard (1...65_535).contains(url.port ?? 443) else {
            reader.note(key, "has a port that is not from 1 to 65535")
            return nil
        }
        if scheme == "http", isUsed, !InsecureLink.isLoopback(host) {
            reader.refuse(["names \(host)"], of: key, as: .otlp, remedy: "use https://")
        }
        return path.isEmpty ? text : (text.hasSuffix("/") ? String(text.dropLast()) : text) + path
    }
}

extension SpanSampler {
    init(_ kind: TracesSampler, share: Double) {
        self =
            switch kind {
            case .alwaysOn: .always(true)
            case .alwaysOff: .always(false)
            case .traceIDRatio: .ratio(share)
            case .parentBasedAlwaysOn: .parentOr(true)
            case .parentBasedAlwaysOff: .parentOr(false)
            case .parentBasedTraceIDRatio: .parentOrRatio(share)
            }
    }
}
