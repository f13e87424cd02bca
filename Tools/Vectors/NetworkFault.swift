/// What goes wrong with a request: the faults of the Swift SDK's fault table.
enum NetworkFault: CaseIterable {
    case connectionRefused, timeout, slowBody, tlsFailure, redirect, tenMegabytes, wrongJSON, wrongID
    case unauthorized, unauthorizedAfterRefresh, forbidden, notFound, requestTimeout, gone
    case tooManyForASecond, tooManyForAnHour, serverError, unavailable
    case proxyOK, proxyBadRequest, proxyUnauthorized, proxyNotFound

    var name: String {
        switch self {
        case .connectionRefused: "connection refused"
        case .timeout: "timeout"
        case .slowBody: "slow body"
        case .tlsFailure: "TLS failure"
        case .redirect: "redirect"
        case .tenMegabytes: "10 MB answer"
        case .wrongJSON: "wrong JSON"
        case .wrongID: "wrong ID"
        case .unauthorized: "401"
        case .unauthorizedAfterRefresh: "401 after refresh"
        case .forbidden: "403"
        case .notFound: "404"
        case .requestTimeout: "408"
        case .gone: "410"
        case .tooManyForASecond: "429 for 1 s"
        case .tooManyForAnHour: "429 for 3600 s"
        case .serverError: "500"
        case .unavailable: "503"
        case .proxyOK: "200 of a proxy"
        case .proxyBadRequest: "400 of a proxy"
        case .proxyUnauthorized: "401 of a proxy"
        case .proxyNotFound: "404 of a proxy"
        }
    }

    /// The answer in place of the good one.
    func answer(to request: ServerModel.Request, _ good: ServerModel.Answer) -> ServerModel.Answer {
        switch self {
        case .connectionRefused: .error(after: 50, "unreachable")
        case .timeout: .hangs
        // 200 comes at once, and its body after ten minutes.
        case .slowBody: .response(after: 600_000, status: 200, body: "{}")
        case .tlsFailure: .error(after: 50, "untrusted")
        case .redirect: .response(after: 50, status: 302, headers: [("Location", "https://evil.example/")])
        case .tenMegabytes: .bytes(after: 50, status: 200, count: 10 << 20)
        case .wrongJSON: .response(after: 50, status: 200, body: "{\"Id\":7,\"Payload\":")
        case .wrongID:
            .response(
                after: 50, status: 200,
                body: "{\"Id\":\"019aa4a2-ffff-7000-8000-000000000000\",\"Payload\":\"another's\",\"Read\":false}")
        case .unauthorized: .unauthorized(after: 50)
        case .unauthorizedAfterRefresh: request.path == "/api/token" ? good : .unauthorized(after: 50)
        case .forbidden: .response(after: 50, status: 403)
        case .notFound: .response(after: 50, status: 404)
        case .requestTimeout: .response(after: 50, status: 408)
        case .gone: .response(after: 50, status: 410)
        case .tooManyForASecond: .response(after: 50, status: 429, headers: [("Retry-After", "1")])
        case .tooManyForAnHour: .response(after: 50, status: 429, headers: [("Retry-After", "3600")])
        case .serverError: .response(after: 50, status: 500)
        case .unavailable: .response(after: 50, status: 503)
        case .proxyOK: Self.proxy(200)
        case .proxyBadRequest: Self.proxy(400)
        case .proxyUnauthorized: Self.proxy(401)
        case .proxyNotFound: Self.proxy(404)
        }
    }

    /// The page of a proxy or a captive portal, in place of the server's answer.
    private static func proxy(_ status: Int) -> ServerModel.Answer {
        .response(after: 50, status: status, headers: [("Content-Type", "text/html")], body: "<html></html>")
    }
}
