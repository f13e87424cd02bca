import Foundations
import Tracing

/// The body of an OTLP/HTTP export in its JSON encoding: `ExportTraceServiceRequest` of opentelemetry-proto, in
/// Protobuf's JSON mapping, with trace and span IDs in hex (OTLP 1.x, "JSON Protobuf Encoding").
enum OTLPTraces {
    /// More attributes of one span are left out.
    static let maxAttributes = 32
    /// Longer texts are cut.
    static let maxTextBytes = 1024

    /// - Parameter resource: the attributes of the process.
    static func json(_ spans: [FinishedSpan], resource: [(String, String)], version: String) -> [UInt8] {
        var json = JSONWriter(capacity: 512 + spans.count * 768)
        json.object { json in
            json.array("resourceSpans") { json in
                json.object { json in
                    json.object("resource") { json in
                        json.array("attributes") { json in
                            for (key, value) in resource { write(key, .string(value), &json) }
                        }
                    }
                    json.array("scopeSpans") { json in
                        json.object { json in
                            json.object("scope") { json in
                                json.member("name", "securepush")
                                json.member("version", version)
                            }
                            json.array("spans") { json in
                                for span in spans { write(span, &json) }
                            }
                        }
                    }
                }
            }
        }
        return json.bytes
    }

    private static func write(_ span: FinishedSpan, _ json: inout JSONWriter) {
        json.object { json in
            json.member("traceId", span.trace.traceID)
            json.member("spanId", span.trace.spanID)
            if let parent = span.parentSpanID { json.member("parentSpanId", parent) }
            json.member("flags", 1)
            json.member("name", cut(span.name))
            json.member("kind", number(of: span.kind))
            // 64-bit numbers are strings in Protobuf's JSON.
            json.member("startTimeUnixNano", "\(span.start)")
            json.member("endTimeUnixNano", "\(span.end)")
            write(span.attributes, &json)
            if !span.events.isEmpty {
                json.array("events") { json in
                    for event in span.events {
                        json.object { json in
                            json.member("timeUnixNano", "\(event.nanosecondsSinceEpoch)")
                            json.member("name", cut(event.name))
                            write(event.attributes, &json)
                        }
                    }
                }
            }
            if !span.links.isEmpty {
                json.array("links") { json in
                    for link in span.links {
                        json.object { json in
                            json.member("traceId", link.traceID)
                            json.member("spanId", link.spanID)
                        }
                    }
                }
            }
            if let status = span.status {
                json.object("status") { json in
                    json.member("code", status.code == .ok ? 1 : 2)
                    if let message = status.message { json.member("message", cut(message)) }
                }
            }
        }
    }

    private static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    private static func write(_ attributes: SpanAttributes, _ json: inout JSONWriter) {
        var pairs: [(String, SpanAttribute)] = []
        attributes.forEach { pairs.append(($0, $1)) }
        pairs.sort { $0.0 < $1.0 }
        json.array("attributes") { json in
            for (key, value) in pairs.prefix(maxAttributes) { write(key, value, &json) }
        }
    }

    private static func write(_ key: String, _ value: SpanAttribute, _ json: inout JSONWriter) {
        json.object { json in
            json.member("key", cut(key))
            json.object("value") { json in
                switch value {
                case .int32(let number): json.member("intValue", "\(number)")
                case .int64(let number): json.member("intValue", "\(number)")
                case .bool(let value): json.member("boolValue", value)
                case .double(let number) where number.isFinite: json.member("doubleValue", json: "\(number)".utf8)
                case .string(let text): json.member("stringValue", cut(text))
                case .stringConvertible(let value): json.member("stringValue", cut("\(value)"))
                default: json.member("stringValue", "")  // No span here has lists.
                }
            }
        }
    }

    /// The text up to the limit, without half a character.
    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxTextBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: maxTextBytes)
        while String.Index(end, within: text) == nil { text.utf8.formIndex(before: &end) }
        return String(text[..<end])
    }
}

/// What a collector has answered to a batch.
struct OTLPAnswer: Sendable, Equatable {
    /// Spans that it did not take, of a batch that it took (`partialSuccess.rejectedSpans`).
    var rejectedSpans = 0

    /// Reads `ExportTraceServiceResponse` in JSON. Anything else counts as complete success, as for an empty object.
    init(json bytes: [UInt8], batch: Int) {
        guard let body = try? JSONValue(bytes), let rejected = body["partialSuccess"]?["rejectedSpans"] else { return }
        let number = rejected.text.flatMap { Double($0) } ?? rejected.number ?? 0
        // min and max keep "nan", which has no Int.
        rejectedSpans = number.isNaN ? 0 : Int(min(max(number, 0), Double(batch)))
    }
}
