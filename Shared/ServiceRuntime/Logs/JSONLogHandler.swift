import Foundations
package import Logging

/// Writes one JSON object per line to standard error. The names are those of the OpenTelemetry log data model, spelled
/// like the fields of its protocol:
///
///     {"timestamp":"2026-11-21T08:30:00.000Z","severity_text":"INFO","severity_number":9,"body":"Listening",
///      "scope":"ingest","attributes":{"port":"8080"},"resource":{"service.name":"ingest","service.version":"0.2.0"}}
///
/// `timestamp` is RFC 3339 in UTC; `scope` is the logger's label; `attributes` is the metadata, left out if there is
/// none. `trace_id` and `span_id` of the metadata are fields of their own. ``LogWriter`` writes the lines.
package struct JSONLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level

    private let label: String
    private let service: String
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - label: the logger's label.
    ///   - service: the value of `service.name`.
    ///   - logLevel: the lowest level that is written.
    ///   - write: receives one line with its line end; writes to standard error by default.
    package init(
        label: String, service: String, logLevel: Logger.Level = .info,
        write: (@Sendable ([UInt8]) -> Void)? = nil
    ) {
        self.label = label
        self.service = service
        self.logLevel = logLevel
        self.write = write ?? { LogWriter.standardError.write($0) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var json = JSONWriter(capacity: 512)
        json.object { json in
            json.member("timestamp", Timestamp.now.description)
            json.member("severity_text", event.level.severityText)
            json.member("severity_number", event.level.severityNumber)
            json.member("body", event.message.description)
            json.member("scope", label)
            var attributes = merged(with: event)
            for field in [TraceContext.LogKey.traceID, TraceContext.LogKey.spanID] {
                guard let position = attributes.firstIndex(where: { $0.key == field }) else { continue }
                json.member(field, attributes.remove(at: position).value)
            }
            if !attributes.isEmpty {
                json.object("attributes") { json in
                    for (key, value) in attributes { json.member(key, value) }
                }
            }
            json.object("resource") { json in
                json.member("service.name", service)
                json.member("service.version", SecurePushVersion.current)
            }
        }
        json.raw("\n")
        write(json.bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ value: Logger.MetadataValue) {
        member(name)
        metadata(value)
    }

    private mutating func metadata(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): string(text)
        case .stringConvertible(let value): string(value.description)
        case .array(let values): array { json in for value in values { json.metadata(value) } }
        case .dictionary(let values):
            object { json in
                for (key, value) in values.sorted(by: { $0.key < $1.key }) { json.member(key, value) }
            }
        }
    }
}

extension Logger.Level {
    /// OpenTelemetry's short names. Its INFO includes `notice`, its FATAL is `critical`.
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
