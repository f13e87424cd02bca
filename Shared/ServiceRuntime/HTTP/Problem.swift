public import HTTPTypes
public import Hummingbird
import NIOCore
public import SecurePushCore

/// An error as a client sees it: `application/problem+json` (RFC 9457).
///
/// Routes throw it; ``ProblemMiddleware`` fills in ``instance`` and turns every other error into one. Nothing of a
/// payload, a credential or a token belongs into any member.
public struct Problem: Error, Sendable, Hashable {
    /// One offending member of a request.
    public struct Member: Sendable, Hashable {
        /// RFC 6901 pointer in the contract's own spelling, as `/Recipient`; empty for the whole document.
        public let pointer: String
        /// What is wrong with it.
        public let detail: String

        public init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }
    }

    public var status: HTTPResponse.Status
    /// A URI; `about:blank` says that the status tells all (RFC 9457, 4.2.1).
    public var type: String
    /// The same for every problem of a type; by default the status's reason phrase.
    public var title: String
    /// What happened this time, for a person.
    public var detail: String?
    /// The ID of the request.
    public var instance: String?
    /// For validation: every offending member.
    public var errors: [Member]
    /// Headers beside `Content-Type`, as `WWW-Authenticate` and `Retry-After`.
    public var headers: HTTPFields

    public init(
        _ status: HTTPResponse.Status, _ detail: String? = nil, type: String = "about:blank", title: String? = nil,
        errors: [Member] = [], headers: HTTPFields = [:]
    ) {
        self.status = status
        self.type = type
        self.title = title ?? Problem.title(of: status)
        self.detail = detail
        self.errors = errors
        self.headers = headers
    }

    private static func title(of status: HTTPResponse.Status) -> String {
        switch status.code {
        case 413: "Content Too Large"
        case 422: "Unprocessable Content"
        default: status.reasonPhrase.isEmpty ? "Error \(status.code)" : status.reasonPhrase
        }
    }
}

extension Problem: CustomStringConvertible {
    public var description: String { "problem \(status.code): \(detail ?? title)" }
}

extension Problem {
    /// The document: `type`, `title`, `status`, and `detail`, `instance` and `errors` where there are any. For answers
    /// that hold problems inside, as the lines of a batch do.
    public var json: String { String(decoding: jsonBytes, as: UTF8.self) }

    /// ``json`` as UTF-8.
    public var jsonBytes: [UInt8] {
        var text = JSONWriter()
        text.raw("{")
        text.member("type", type)
        text.member("title", title)
        text.member("status")
        text.number(status.code)
        if let detail { text.member("detail", detail) }
        if let instance { text.member("instance", instance) }
        if !errors.isEmpty {
            text.member("errors")
            text.raw("[")
            for (index, error) in errors.enumerated() {
                if index > 0 { text.raw(",") }
                text.raw("{")
                text.member("pointer", error.pointer)
                text.member("detail", error.detail)
                text.raw("}")
            }
            text.raw("]")
        }
        text.raw("}")
        return text.bytes
    }

    /// The answer.
    public var response: Response {
        var fields = headers
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: jsonBytes)))
    }
}

extension Problem: HTTPResponseError {
    public func response(from request: Request, context: some RequestContext) throws -> Response { response }
}

extension Problem {
    /// 400: the request is malformed.
    public static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, detail) }

    /// 401 with a `WWW-Authenticate` header for each challenge (RFC 9110, 11.6.1).
    public static func unauthorized(_ detail: String, challenges: [String]) -> Problem {
        var problem = Problem(.unauthorized, detail)
        for challenge in challenges {
            problem.headers.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        }
        return problem
    }

    /// 403: known, and not allowed.
    public static func forbidden(_ detail: String) -> Problem { Problem(.forbidden, detail) }

    /// 404: not there, or not yours; the two are the same answer.
    public static func notFound(_ detail: String? = nil) -> Problem { Problem(.notFound, detail) }

    /// 405 with `Allow`.
    public static func methodNotAllowed(allow methods: [String]) -> Problem {
        let list = methods.joined(separator: ", ")
        return Problem(.methodNotAllowed, "This path takes \(list).", headers: [.allow: list])
    }

    /// 409: the same is under way, or the state forbids it.
    public static func conflict(_ detail: String, retryAfter: Duration? = nil) -> Problem {
        Problem(.conflict, detail, headers: retryAfterHeader(retryAfter))
    }

    /// 410: it was there, and is gone for good.
    public static func gone(_ detail: String) -> Problem { Problem(.gone, detail) }

    /// 413: the content is larger than allowed.
    public static func contentTooLarge(_ detail: String) -> Problem { Problem(.contentTooLarge, detail) }

    /// 415: not a media type that this resource takes.
    public static func unsupportedMediaType(_ detail: String) -> Problem { Problem(.unsupportedMediaType, detail) }

    /// 422: well-formed, but these members cannot be accepted.
    public static func unprocessable(_ detail: String = "The request is not valid.", errors: [Member] = []) -> Problem {
        Problem(.unprocessableContent, detail, errors: errors)
    }

    /// 422 that names the offending members, and says how many more there are than are listed.
    public static func unprocessable(_ detail: String, issues: MemberIssues) -> Problem {
        let members = issues.entries.map { Member(pointer: $0.pointer, detail: $0.detail) }
        switch issues.omitted {
        case 0: return unprocessable(detail, errors: members)
        case 1: return unprocessable(detail + " 1 more is not listed.", errors: members)
        default: return unprocessable(detail + " \(issues.omitted) more are not listed.", errors: members)
        }
    }

    /// 429: too many requests of this client.
    public static func tooManyRequests(_ detail: String, retryAfter: Duration) -> Problem {
        Problem(.tooManyRequests, detail, headers: retryAfterHeader(retryAfter))
    }

    /// 500: our fault; says nothing else.
    public static func internalServerError() -> Problem { Problem(.internalServerError) }

    /// 502: the system behind this one refused.
    public static func badGateway(_ detail: String) -> Problem { Problem(.badGateway, detail) }

    /// 503: not now.
    public static func serviceUnavailable(_ detail: String, retryAfter: Duration = .seconds(1)) -> Problem {
        Problem(.serviceUnavailable, detail, headers: retryAfterHeader(retryAfter))
    }

    /// `Retry-After` in whole seconds, rounded up, at least one (RFC 9110, 10.2.3).
    private static func retryAfterHeader(_ delay: Duration?) -> HTTPFields {
        guard let delay else { return [:] }
        let (seconds, attoseconds) = delay.components
        return [.retryAfter: "\(max(1, attoseconds > 0 ? seconds + 1 : seconds))"]
    }
}

extension HTTPResponse.Status {
    /// 422 with its name of RFC 9110.
    static var unprocessableContent: HTTPResponse.Status {
        HTTPResponse.Status(code: 422, reasonPhrase: "Unprocessable Content")
    }
}
