import SecurePushCore

extension DeviceModel {
    /// The end of a request.
    enum Outcome {
        case success(String)
        case refused(Int)
        case failed(String)
        case loggedOut(String)

        var isSuccess: Bool {
            if case .success = self { true } else { false }
        }
    }

    /// The answer to one try.
    enum Reply {
        /// `retryAfter` is in milliseconds.
        case response(retryAfter: Int?, Int, String)
        /// Somebody else has answered: a proxy or a captive portal.
        case foreign(mayHideWork: Bool)
        case error(String)
    }

    private enum Credentials {
        case token(String)
        case none
        case unavailable
    }

    /// Sends a request by the fetch plan.
    ///
    /// - Returns: also the number of tries after which nobody knows whether the server has done its work.
    func send(_ call: ServerModel.Request, until deadline: Int) -> (outcome: Outcome, lost: Int) {
        var (lost, retries, refused) = (0, 0, String?.none)
        while true {
            guard deadline - now >= 500 else { return (.failed("SP-TIMEOUT"), lost) }
            var (ending, canHeal, retryAfter) = (Outcome.failed("SP-CREDENTIALS"), true, 0)
            switch credentials(after: refused, until: deadline) {
            case .none: return (.loggedOut(refused == nil ? "SP-LOGIN" : "SP-401"), lost)
            case .unavailable: break
            case .token(let token):
                // A refresh of the token may have taken long.
                guard deadline - now >= 500 else { return (.failed("SP-TIMEOUT"), lost) }
                let timeout = min(8_000, deadline - now)
                var request = call
                request.authorization = "Bearer \(token)"
                switch exchange(request, timeout: timeout) {
                case .error(let code):
                    lost += 1
                    ending = .failed(code)
                    canHeal = code == "SP-TIMEOUT" || code == "SP-OFFLINE"
                case .foreign(let mayHideWork):
                    return (.failed("SP-JSON"), lost + (mayHideWork ? 1 : 0))
                case .response(_, 200..<300, let body): return (.success(body), lost)
                case .response(_, 401, _):
                    if refused != nil { return (.loggedOut("SP-401"), lost) }
                    refused = token
                    continue
                case .response(let wanted, let status, _):
                    ending = .refused(status)
                    canHeal = status == 408 || status == 429 || status >= 500
                    if status == 408 || status >= 500 { lost += 1 }
                    retryAfter = wanted ?? 0
                }
            }
            let wait = max([1_000, 2_000, 3_000, 5_000][min(retries, 3)], retryAfter)
            guard canHeal, now + wait + 500 <= deadline else { return (ending, lost) }
            retries += 1
            seen.waits.append(JSONLiteral(wait))
            now += wait
        }
    }

    /// One try. The clock moves to its end.
    func exchange(_ request: ServerModel.Request, timeout: Int) -> Reply {
        seen.requests.append([
            "atMs": JSONLiteral(now - seen.begin), "method": JSONLiteral(request.method),
            "path": JSONLiteral(request.path), "query": JSONLiteral(request.query),
            "authorization": JSONLiteral(request.authorization),
        ])
        let answer = server.answer(request)
        switch answer {
        case .response(let after, let status, let headers, let body) where after < timeout:
            now += after
            if !isOfServer(status, headers, body, to: request) {
                return .foreign(mayHideWork: (200..<300).contains(status))
            }
            let wanted = headers.first { $0.0 == "Retry-After" }
            return .response(retryAfter: wanted.flatMap { RetryAfterModel.wait($0.1, at: today) }, status, body)
        case .bytes(let after, let status, let count) where after < timeout:
            now += after
            return count > 2 << 20
                ? .error("SP-SIZE") : .response(retryAfter: nil, status, String(repeating: "x", count: count))
        case .error(let after, let name) where after < timeout:
            now += after
            return .error(name == "untrusted" ? "SP-TLS" : "SP-OFFLINE")
        default:
            now += timeout
            return .error("SP-TIMEOUT")
        }
    }

    /// Whether the server can have given an answer. It says 401 with a challenge only, sends nothing but JSON, and has
    /// one status for the success of each route: with a body for `GET` and for tokens, otherwise without. Its errors
    /// are problems; the model's have no body. Answers after which the request is repeated may come from anybody.
    private func isOfServer(
        _ status: Int, _ headers: [(String, String)], _ body: String, to request: ServerModel.Request
    ) -> Bool {
        let type = headers.first { $0.0 == "Content-Type" }?.1
        let isJSON = type == nil || type == "application/json"
        let isError = type == "application/problem+json" || (type == nil && body.isEmpty)
        switch status {
        case 200..<300:
            let hasBody = request.method == "GET" || request.path == "/api/token"
            let success = request.method == "POST" && !hasBody ? 204 : 200
            return isJSON && status == success && (hasBody || body.isEmpty)
        case 401 where request.path != "/api/push-keys":
            return isError && headers.contains { $0.0 == "WWW-Authenticate" }
        case 400 where request.path == "/api/token": return isError || type == "application/json"
        case 408, 429: return true
        case 400..<500: return isError
        default: return true
        }
    }

    private func credentials(after refused: String?, until deadline: Int) -> Credentials {
        guard let tokens, !tokens.access.isEmpty else { return .none }
        let isExpired = tokens.expiresAt.map { today >= $0 - 30_000 } ?? false
        if refused != tokens.access, !isExpired || tokens.refresh == nil { return .token(tokens.access) }
        guard let refresh = tokens.refresh else {
            self.tokens = nil
            return .none
        }
        // A refresh token is single use: without a store for the next one, it is not spent.
        if isStoreUnwritable { return .unavailable }
        var request = ServerModel.Request(method: "POST", path: "/api/token")
        request.body = ["grant_type": "refresh_token", "refresh_token": refresh]
        switch exchange(request, timeout: min(8_000, deadline - now)) {
        case .response(_, 200, let body):
            guard let renewed = readTokens(body) else { return .unavailable }
            self.tokens = renewed
            return .token(renewed.access)
        case .response(_, 401, _):
            self.tokens = nil
            return .none
        case .response(_, 400, let body) where JSONValue(text: body)?["error"]?.text == "invalid_grant":
            self.tokens = nil
            return .none
        default: return .unavailable
        }
    }

    func readTokens(_ body: String) -> Tokens? {
        guard let json = JSONValue(text: body), let access = json["access_token"]?.text, !access.isEmpty else {
            return nil
        }
        return Tokens(
            access: access, expiresAt: json["expires_in"]?.number.map { today + Int($0) * 1_000 },
            refresh: json["refresh_token"]?.text)
    }

    /// A page of the inbox, or a code.
    enum PageResult {
        case success(PageModel)
        /// 2xx with another body: the server may have done its work.
        case unusable(String)
        case failure(String)

        /// Those that the server has surely not marked as read.
        func answered(_ ids: some Sequence<String>) -> [String] {
            switch self {
            case .success(let page): ids.filter { id in !page.secrets.contains { $0.id == id } }
            case .unusable: []
            case .failure: Array(ids)
            }
        }
    }

    /// - Returns: also the number of tries without a clear answer.
    func readPage(_ query: [(String, String)]) -> (result: PageResult, lost: Int) {
        let call = ServerModel.Request(path: "/api/notifications", query: query)
        let (outcome, lost) = send(call, until: seen.deadline)
        switch outcome {
        case .success(let body): return (PageModel(body).map { .success($0) } ?? .unusable("SP-JSON"), lost)
        case .refused(let status): return (.failure("SP-\(status)"), lost)
        case .failed(let code), .loggedOut(let code): return (.failure(code), lost)
        }
    }

    /// The members `x` of a set; `nil` if it cannot be used.
    static func readKeys(_ body: String) -> [String]? {
        guard let keys = JSONValue(text: body)?["keys"]?.elements,
            !keys.contains(where: { $0["d"] != nil || $0["k"] != nil })
        else { return nil }
        let found = keys.filter { $0["kty"]?.text == "OKP" && $0["crv"]?.text == "Ed25519" }
            .compactMap { $0["x"]?.text }.filter { Base64.decode($0, .url)?.count == 32 }
        return found.isEmpty ? nil : Array(found.prefix(32))
    }
}
