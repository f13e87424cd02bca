import HTTPTypes

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
