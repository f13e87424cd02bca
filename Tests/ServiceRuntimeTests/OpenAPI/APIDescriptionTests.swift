import TestSupport
import Testing

/// The tests' own comparison of documents with answers: it must not overlook anything.
@Suite("Comparing a description with an answer")
struct APIDescriptionTests {
    private static let schema = """
        {"type":"object","additionalProperties":false,"required":["A"],
        "properties":{"A":{"type":"string","enum":["x"]},"B":{"oneOf":[{"type":"integer"},{"type":"null"}]}}}
        """

    @Test(arguments: [
        (#"{"A":"x"}"#, 0), (#"{"A":"x","B":null}"#, 0), (#"{"A":"x","B":1.5}"#, 1), (#"{"A":"y"}"#, 1), ("{}", 1),
        (#"{"A":"x","C":1}"#, 1), ("[]", 1), ("none", 1),
    ])
    func `The body is compared with the schema`(body: String, count: Int) throws {
        let exchange = exchange(status: 200, headers: [("Content-Type", "application/json"), ("X-A", "1")], body: body)
        #expect(try description(Self.schema).issues(of: exchange).count == count)
    }

    @Test func `Anything else is compared too`() throws {
        let description = try description("{}")
        let json = ("Content-Type", "application/json")
        #expect(description.issues(of: exchange(status: 200, headers: [json, ("X-A", "1")])) == [])
        #expect(description.issues(of: exchange(status: 200, headers: [json])).count == 1)
        #expect(description.issues(of: exchange(status: 200, headers: [json, ("X-A", "b")])).count == 1)
        #expect(description.issues(of: exchange(status: 200, headers: [json, ("X-A", "1"), ("X-B", "1")])).count == 1)
        #expect(description.issues(of: exchange(status: 200, headers: [("Content-Type", "text/plain")])).count == 2)
        #expect(description.issues(of: exchange(status: 201, headers: [json, ("X-A", "1")])).count == 1)
        #expect(description.issues(of: exchange(path: "/b", status: 200, headers: [json])).count == 1)
    }

    @Test func `A keyword that is not known is an issue`() throws {
        let exchange = exchange(status: 200, headers: [("Content-Type", "application/json"), ("X-A", "1")])
        #expect(try description(#"{"minProperties":1}"#).issues(of: exchange).count == 1)
    }

    @Test func `What could be removed unnoticed is told`() throws {
        let exchange = exchange(status: 200, headers: [("Content-Type", "application/json"), ("X-A", "1")])
        let description = try description("{}", more: #","404":{"description":"never"}"#)
        #expect(description.unnoticedRemovals([exchange]) == ["paths//a/get/responses/404"])
    }

    private func description(_ schema: String, more: String = "") throws -> APIDescription {
        let document = """
            {"paths":{"/a":{"get":{"responses":{"200":{"headers":{"X-A":{"required":true,"schema":{"type":"integer"}}},
            "content":{"application/json":{"schema":\(schema)}}}\(more)}}}}}
            """
        return APIDescription(try JSONNode(Array(document.utf8)))
    }

    private func exchange(
        path: String = "/a", status: Int, headers: [(String, String)], body: String = "{}"
    ) -> APIExchange {
        APIExchange(
            method: "GET", uri: path, requestHeaders: [], requestBody: [], status: status,
            headers: headers.map { APIExchange.Header(name: $0.0, value: $0.1) }, body: Array(body.utf8))
    }
}
