public import Logging
import SecurePushCore

/// One JSON object a line on standard error, with the names of the OpenTelemetry log data model in the spelling of its
/// protocol's fields:
///
///     {"timestamp":"2026-11-21T08:30:00.000Z","severity_text":"INFO","severity_number":9,"body":"Listening",
///      "scope":"ingest","attributes":{"port":"8080"},"resource":{"service.name":"ingest","service.version":"0.1.0"}}
///
/// `timestamp` is RFC 3339 in UTC; `scope` is the logger's label; `attributes` is the metadata, left out when there is
/// none. `trace_id` and `span_id` are fields of their own where the metadata has them. Every line is one `write(2)`.
public struct JSONLogHandler: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    public var logLevel: Logger.Level

    private let label: String
    private let service: String
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - label: the logger's.
    ///   - service: `service.name`.
    ///   - write: takes one line with its line end; standard error by default.
    public init(
        label: String, service: String, logLevel: Logger.Level = .info,
        write: (@Sendable ([UInt8]) -> Void)? = nil
    ) {
        self.label = label
        self.service = service
        self.logLevel = logLevel
        self.write = write ?? { StandardStream.error.write($0) }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var text = JSONWriter(capacity: 512)
        text.raw("{")
        text.member("timestamp", Timestamp.now.description)
        text.member("severity_text", event.level.severityText)
        text.member("severity_number")
        text.number(event.level.severityNumber)
        text.member("body", event.message.description)
        text.member("scope", label)
        var attributes = merged(with: event)
        for field in [TraceContext.LogKey.traceID, TraceContext.LogKey.spanID] {
            guard let position = attributes.firstIndex(where: { $0.key == field }) else { continue }
            text.member(field)
            text.metadata(attributes.remove(at: position).value)
        }
        if !attributes.isEmpty {
            text.member("attributes")
            text.raw("{")
            for (key, value) in attributes {
                text.member(key)
                text.metadata(value)
            }
            text.raw("}")
        }
        text.member("resource")
        text.raw("{")
        text.member("service.name", service)
        text.member("service.version", SecurePushVersion.current)
        text.raw("}}\n")
        write(text.bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func metadata(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): string(text)
        case .stringConvertible(let value): string(value.description)
        case .array(let values):
            raw("[")
            for (index, value) in values.enumerated() {
                if index > 0 { raw(",") }
                metadata(value)
            }
            raw("]")
        case .dictionary(let values):
            raw("{")
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                member(key)
                metadata(value)
            }
            raw("}")
        }
    }
}

extension Logger.Level {
    /// OpenTelemetry's short names; `notice` and `critical` are within INFO and FATAL there.
    fileprivate var severityText: String {
        switch self {
        case .trace: "TRACE"
        case .debug: "DEBUG"
        case .info: "INFO"
        case .notice: "INFO2"
        case .warning: "WARN"
        case .error: "ERROR"
        case .critical: "FATAL"
        }
    }

    fileprivate var severityNumber: Int {
        switch self {
        case .trace: 1
        case .debug: 5
        case .info: 9
        case .notice: 10
        case .warning: 13
        case .error: 17
        case .critical: 21
        }
    }
}
