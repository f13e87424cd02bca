import Foundation
import Foundations
import TestSupport
import Testing
import Tracing

@testable import ServiceRuntime

@Suite("OTLP in JSON")
struct OTLPTracesTests {
    private static let sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func json(_ change: (RecordedSpan) -> Void) throws -> JSONValue {
        let book = SpanTable()
        let span = book.tracer().startSpan(
            "GET /x", context: InstrumentationContext(traceparent: Self.sender), ofKind: .client,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 1_700_000_000_123_456_789))
        change(span)
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 1_700_000_001_000_000_000))
        let bytes = OTLPTraces.json(book.spans, resource: [("service.name", "ingest")], version: "1.2.3")
        return try #require(try JSONValue(strict: bytes)["resourceSpans"]?.elements?.first)
    }

    @Test func `A span has these members`() throws {
        let json = try json { span in
            span.updateAttributes { attributes in
                attributes["text"] = "a \"b\""
                attributes["number"] = 7
                attributes["flag"] = true
            }
            span.addLink(SpanLink(context: InstrumentationContext(traceparent: Self.sender), attributes: [:]))
            span.fail("503")
        }
        #expect(
            json["resource"]?.json
                == #"{"attributes":[{"key":"service.name","value":{"stringValue":"ingest"}}]}"#)
        let scope = try #require(json["scopeSpans"]?.elements?.first)
        #expect(scope["scope"]?.json == #"{"name":"securepush","version":"1.2.3"}"#)
        let span = try #require(scope["spans"]?.elements?.first)
        #expect(span["traceId"]?.text == "0af7651916cd43dd8448eb211c80319c")
        #expect(span["spanId"]?.text?.count == 16)
        #expect(span["parentSpanId"]?.text == "b7ad6b7169203331")
        #expect(span["name"]?.text == "GET /x" && span["kind"]?.number == 3)
        // 64-bit numbers are strings.
        #expect(span["startTimeUnixNano"]?.text == "1700000000123456789")
        #expect(span["endTimeUnixNano"]?.text == "1700000001000000000")
        #expect(
            span["attributes"]?.json
                == #"[{"key":"error.type","value":{"stringValue":"503"}},{"key":"flag","value":{"boolValue":true}},"#
                + #"{"key":"number","value":{"intValue":"7"}},{"key":"text","value":{"stringValue":"a \"b\""}}]"#)
        #expect(span["links"]?.elements?.first?["spanId"]?.text == "b7ad6b7169203331")
        #expect(span["status"]?.json == #"{"code":2}"#)
    }

    @Test func `Attributes are bounded`() throws {
        let json = try json { span in
            for number in 100..<200 { span.attributes["key\(number)"] = String(repeating: "ä", count: 600) }
        }
        let attributes = try #require(json["scopeSpans"]?.elements?.first?["spans"]?.elements?.first?["attributes"])
        #expect(attributes.elements?.count == OTLPTraces.maxAttributes)
        #expect(attributes.elements?.first?["value"]?["stringValue"]?.text == String(repeating: "ä", count: 512))
    }

    @Test(arguments: [
        ("", 0), ("{}", 0), ("<html>", 0), (#"{"partialSuccess":{}}"#, 0),
        (#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"x"}}"#, 3),
        (#"{"partialSuccess":{"rejectedSpans":4}}"#, 4), (#"{"partialSuccess":{"rejectedSpans":"99e99"}}"#, 10),
        (#"{"partialSuccess":{"rejectedSpans":-1}}"#, 0), (#"{"partialSuccess":{"rejectedSpans":"nan"}}"#, 0),
    ])
    func `The spans that the collector rejects are counted`(_ text: String, _ count: Int) {
        #expect(OTLPAnswer(json: Array(text.utf8), batch: 10).rejectedSpans == count)
    }
}
