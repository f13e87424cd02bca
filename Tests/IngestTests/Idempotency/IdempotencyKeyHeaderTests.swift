import HTTPTypes
import ServiceRuntime
import Testing

@testable import Ingest

@Suite("The header Idempotency-Key")
struct IdempotencyKeyHeaderTests {
    private func fields(_ values: [String]) -> HTTPFields {
        HTTPFields(values.map { HTTPField(name: .idempotencyKey, value: $0) })
    }

    @Test(arguments: [
        ("k", "k"), ("8e03978e-40d5-43e8-bc93-6894a57f9324", "8e03978e-40d5-43e8-bc93-6894a57f9324"),
        (#""8e03978e""#, "8e03978e"), (#""a\"b\\c""#, #"a"b\c"#), ("\"", "\""), ("\"open", "\"open"),
        (#"a"b"#, #"a"b"#), (#""a"b""#, #""a"b""#), ("!~", "!~"), (#""k";a=1"#, #""k";a=1"#),
        (#""k";a="x""#, #""k";a="x""#), (#""a\""#, #""a\""#), (#""a\c""#, #""a\c""#), (":YQ==:", ":YQ==:"),
        ("?1", "?1"),
        (String(repeating: "x", count: 255), String(repeating: "x", count: 255)),
        ("\"\(String(repeating: "x", count: 255))\"", String(repeating: "x", count: 255)),
    ])
    func `A key is read bare or as a string`(_ value: String, _ key: String) throws {
        #expect(try IdempotencyKeyHeader.value(in: fields([value])) == key)
    }

    @Test(arguments: [
        [""], ["\"\""], ["a b"], [#""a b""#], ["é"], ["a\tb"], [String(repeating: "x", count: 256)], ["a", "a"],
    ])
    func `Anything else is 400 that names the header`(_ values: [String]) {
        let problem = #expect(throws: Problem.self) { try IdempotencyKeyHeader.value(in: fields(values)) }
        #expect(problem?.status == .badRequest)
        #expect(problem?.detail?.contains("Idempotency-Key") ?? false)
    }

    @Test func `The header may be left out`() throws {
        #expect(try IdempotencyKeyHeader.value(in: [:]) == nil)
    }
}
