import Testing

@testable import SecurePushCLI

@Suite struct ProblemTests {
    @Test func `Each fault is a line`() {
        let body = """
            {"title":"Unprocessable Content","detail":"The notification is not valid.","status":422,"errors":[\
            {"pointer":"/Recipient","detail":"is missing"},{"pointer":"/Platforms/0","detail":"is unknown"}]}
            """
        let failure = ProblemDocument.failure(APIResponse(status: 422, body: body), from: "ingest")
        #expect(failure.code == .failed)
        #expect(failure.message == "ingest answered 422: Unprocessable Content: The notification is not valid.")
        #expect(failure.details == ["/Recipient: is missing", "/Platforms/0: is unknown"])
    }

    @Test(arguments: ["", "<html>", "[1]", "{}"])
    func `A body that is no problem document is left out`(body: String) {
        let failure = ProblemDocument.failure(APIResponse(status: 500, body: body), from: "ingest")
        #expect(failure.message == "ingest answered 500: no reason given.")
        #expect(failure.details.isEmpty)
    }

    @Test(arguments: [(400, 1), (401, 1), (404, 1), (422, 1), (500, 1), (502, 69), (503, 69), (504, 69)])
    func `Exit codes`(status: Int, code: Int32) {
        #expect(ProblemDocument.failure(APIResponse(status: status, body: ""), from: "x").code.rawValue == code)
    }

    @Test func `A server cannot drive the terminal`() {
        let answer = APIResponse(status: 400, body: #"{"title":"a\u001b[31mb"}"#)
        #expect(ProblemDocument.failure(answer, from: "x").message == #"x answered 400: a\u{1B}[31mb."#)
    }

    @Test func `Advice names where credentials come from`() {
        #expect(
            ProblemDocument.failure(APIResponse(status: 401, body: ""), from: "ingest").hint?.contains("INGEST_API_KEY")
                == true)
        #expect(
            ProblemDocument.failure(APIResponse(status: 401, body: ""), from: "retrieval").hint?.contains(
                "RETRIEVAL_TOKEN") == true)
    }

    /// 502 and 504 are a proxy's.
    @Test(arguments: [429, 502, 503, 504])
    func `Advice says when to try again`(status: Int) {
        let failure = ProblemDocument.failure(APIResponse(status: status, body: "", retryAfter: 7), from: "x")
        #expect(failure.hint == "Try again in 7 s.")
    }

    @Test func `A failure as JSON`() throws {
        let failure = CommandFailure(.unreachable, "no answer", details: ["a"], hint: "b")
        #expect(try JSONCoding.encode(failure) == #"{"Code":69,"Details":["a"],"Error":"no answer","Hint":"b"}"#)
    }
}
