import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime
import Testing

@Suite("Problems (RFC 9457)")
struct ProblemTests {
    @Test func `The smallest problem has type, title and status`() {
        #expect(Problem(.notFound).json == #"{"type":"about:blank","title":"Not Found","status":404}"#)
    }

    @Test func `A problem has its members in order`() {
        var problem = Problem.unprocessable(errors: [
            .init(pointer: "/Recipient", detail: "is \"empty\"\n"), .init(pointer: "", detail: "ü"),
        ])
        problem.instance = "r1"
        #expect(
            problem.json
                == #"{"type":"about:blank","title":"Unprocessable Content","status":422,"detail":"#
                + #""The request is not valid.","instance":"r1","errors":[{"pointer":"/Recipient","detail":"#
                + #""is \"empty\"\n"},{"pointer":"","detail":"ü"}]}"#)
    }

    @Test(
        arguments: [
            (Problem.badRequest("x"), 400, "Bad Request"), (.unauthorized("x", challenges: []), 401, "Unauthorized"),
            (.forbidden("x"), 403, "Forbidden"), (.notFound(), 404, "Not Found"),
            (.methodNotAllowed(allow: ["GET"]), 405, "Method Not Allowed"), (.conflict("x"), 409, "Conflict"),
            (.gone("x"), 410, "Gone"), (.contentTooLarge("x"), 413, "Content Too Large"),
            (.unsupportedMediaType("x"), 415, "Unsupported Media Type"),
            (.unprocessable("x"), 422, "Unprocessable Content"),
            (.tooManyRequests("x", retryAfter: .seconds(1)), 429, "Too Many Requests"),
            (.internalServerError(), 500, "Internal Server Error"), (.badGateway("x"), 502, "Bad Gateway"),
            (.serviceUnavailable("x"), 503, "Service Unavailable"),
        ] as [(Problem, Int, String)])
    func `Each problem has its status and title`(problem: Problem, code: Int, title: String) {
        #expect(problem.status.code == code)
        #expect(problem.title == title)
    }

    @Test func `Each challenge is a header of its own`() {
        let problem = Problem.unauthorized("x", challenges: ["Bearer error=\"invalid_token\"", "Basic realm=\"x\""])
        let values = problem.response.headers[values: .wwwAuthenticate]
        #expect(values == ["Bearer error=\"invalid_token\"", "Basic realm=\"x\""])
    }

    @Test(arguments: [
        (Duration.zero, "1"), (.milliseconds(1), "1"), (.seconds(2), "2"), (.milliseconds(2001), "3"),
    ])
    func `Retry-After is rounded up to whole seconds`(delay: Duration, value: String) {
        #expect(Problem.serviceUnavailable("x", retryAfter: delay).headers[.retryAfter] == value)
        #expect(Problem.tooManyRequests("x", retryAfter: delay).headers[.retryAfter] == value)
        #expect(Problem.conflict("x", retryAfter: delay).headers[.retryAfter] == value)
        #expect(Problem.conflict("x").headers[.retryAfter] == nil)
    }

    @Test func `The response is not for caches`() {
        let response = Problem.methodNotAllowed(allow: ["GET", "HEAD"]).response
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.allow] == "GET, HEAD")
    }
}
