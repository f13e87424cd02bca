package import Foundations
package import HTTPTypes
package import Hummingbird
import NIOCore

/// An error as a client sees it: `application/problem+json` (RFC 9457).
///
/// Routes throw it; ``ProblemMiddleware`` fills in ``instance`` and turns every other error into one. No member may
/// contain anything of a payload, a credential or a token.
package struct Problem: Error, Sendable, Hashable {
    /// One invalid field of a request.
    package typealias Member = MemberIssues.Issue

    package var status: HTTPResponse.Status
    /// A URI; `about:blank` means that the status says everything (RFC 9457, 4.2.1).
    package var type: String
    /// The same text for every problem of a type; by default the status's reason phrase.
    package var title: String
    /// A description of this occurrence, for a person.
    package var detail: String?
    /// The ID of the request.
    package var instance: String?
    /// Every invalid field of the request.
    package var errors: [MemberIssues.Issue]
    /// Headers besides `Content-Type`, such as `WWW-Authenticate` and `Retry-After`.
    package var headers: HTTPFields

    /// - Parameter title: the default is the status's reason phrase.
    package init(
        _ status: HTTPResponse.Status, _ detail: String? = nil, type: String = "about:blank", title: String? = nil,
        errors: [MemberIssues.Issue] = [], headers: HTTPFields = [:]
    ) {
        self.status = status
        self.type = type
        self.title = title ?? (status.reasonPhrase.isEmpty ? "Error \(status.code)" : status.reasonPhrase)
        self.detail = detail
        self.errors = errors
        self.headers = headers
    }
}

extension Problem: CustomStringConvertible {
    package var description: String { "problem \(status.code): \(detail ?? title)" }
}

extension Problem {
    /// The document as text. Answers that contain problems, such as a batch's, use it.
    package var json: String { String(decoding: jsonBytes, as: UTF8.self) }

    /// The document as UTF-8: `type`, `title` and `status`, and `detail`, `instance` and `errors` if there are any.
    package var jsonBytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("type", type)
            json.member("title", title)
            json.member("status", status.code)
            if let detail { json.member("detail", detail) }
            if let instance { json.member("instance", instance) }
            guard !errors.isEmpty else { return }
            json.array("errors") { json in
                for error in errors {
                    json.object { json in
                        json.member("pointer", error.pointer)
                        json.member("detail", error.detail)
                    }
                }
            }
        }
        return json.bytes
    }

    package var response: Response { CompleteResponse(self).response }
}

extension Problem: HTTPResponseError {
    /// ``response``, for Hummingbird's own error handling.
    package func response(from request: Request, context: some RequestContext) throws -> Response { response }
}

extension Problem {
    /// 400: the request is malformed.
    package static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, detail) }

    /// 401 with a `WWW-Authenticate` header for each challenge (RFC 9110, 11.6.1).
    package static func unauthorized(_ detail: String, challenges: [String]) -> Problem {
        var problem = Problem(.unauthorized, detail)
        for challenge in challenges {
            problem.headers.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        }
        return problem
    }

    /// 403: the caller is known and may not do this.
    package static func forbidden(_ detail: String) -> Problem { Problem(.forbidden, detail) }

    /// 404: missing, or owned by another user; both get the same answer.
    package static func notFound(_ detail: String? = nil) -> Problem { Problem(.notFound, detail) }

    /// 405 with `Allow`.
    package static func methodNotAllowed(allow methods: [String]) -> Problem {
        let list = methods.joined(separator: ", ")
        return Problem(.methodNotAllowed, "This path takes \(list).", headers: [.allow: list])
    }

    /// 409: the same request is in flight, or the state of the resource forbids it.
    package static func conflict(_ detail: String, retryAfter: Duration? = nil) -> Problem {
        Problem(.conflict, detail, headers: retryAfterHeader(retryAfter))
    }

    /// 410: the resource existed and is permanently gone.
    package static func gone(_ detail: String) -> Problem { Problem(.gone, detail) }

    /// 413: the body is larger than allowed.
    package static func contentTooLarge(_ detail: String) -> Problem { Problem(.contentTooLarge, detail) }

    /// 415: the resource does not accept this media type.
    package static func unsupportedMediaType(_ detail: String) -> Problem { Problem(.unsupportedMediaType, detail) }

    /// 422: the request is well-formed, but these fields are not acceptable.
    package static func unprocessable(
        _ detail: String = "The request is not valid.", errors: [MemberIssues.Issue] = []
    ) -> Problem {
        Problem(.unprocessableContent, detail, errors: errors)
    }

    /// 422 that lists the invalid fields, and says how many more there are than it lists.
    package static func unprocessable(_ detail: String, issues: MemberIssues) -> Problem {
        switch issues.omitted {
        case 0: unprocessable(detail, errors: issues.entries)
        case 1: unprocessable(detail + " 1 more is not listed.", errors: issues.entries)
        default: unprocessable(detail + " \(issues.omitted) more are not listed.", errors: issues.entries)
        }
    }

    /// 422 for the fields of a JSON body.
    package static func invalidFields(_ issues: MemberIssues) -> Problem {
        unprocessable("The request has invalid fields; see `errors`.", issues: issues)
    }

    /// 429: too many requests from this client.
    package static func tooManyRequests(_ detail: String, retryAfter: Duration) -> Problem {
        Problem(.tooManyRequests, detail, headers: retryAfterHeader(retryAfter))
    }

    /// 500: the service failed. The answer says nothing else.
    package static func internalServerError() -> Problem { Problem(.internalServerError) }

    /// 502: the system behind this one refused the request.
    package static func badGateway(_ detail: String) -> Problem { Problem(.badGateway, detail) }

    /// 503: the same request may succeed later.
    package static func serviceUnavailable(_ detail: String, retryAfter: Duration = .seconds(1)) -> Problem {
        Problem(.serviceUnavailable, detail, headers: retryAfterHeader(retryAfter))
    }

    /// `Retry-After` in whole seconds, rounded up, at least one (RFC 9110, 10.2.3).
    private static func retryAfterHeader(_ delay: Duration?) -> HTTPFields {
        guard let delay else { return [:] }
        let (seconds, attoseconds) = delay.components
        return [.retryAfter: "\(max(1, attoseconds > 0 ? seconds + 1 : seconds))"]
    }
}
