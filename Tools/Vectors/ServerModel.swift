import SecurePushCore

/// The retrieval service of a scenario: notifications, tokens and the fault of the case. It writes down its answers,
/// which become the script.
final class ServerModel {
    struct Item {
        var id: String
        var payload: String
        var isRead = false
        var isRevoked = false

        init(_ id: String, _ payload: String, isRead: Bool = false) {
            (self.id, self.payload, self.isRead) = (id, payload, isRead)
        }
    }

    struct Request {
        var method = "GET"
        var path: String
        var query: [(String, String)] = []
        var body: [String: String] = [:]
        /// The value of `Authorization`.
        var authorization: String?

        /// The part of a wake to which the request belongs.
        var stage: String {
            if path == "/api/token" { return "token" }
            if path == "/api/push-keys" { return "keys" }
            if path == "/api/notifications" { return "inbox" }
            if path.hasSuffix("/shown") { return "markShown" }
            return method == "HEAD" ? "question" : path.hasSuffix(VectorKeys.missed) ? "missed" : "fetch"
        }
    }

    enum Answer {
        case response(after: Int, status: Int, headers: [(String, String)] = [], body: String = "")
        case bytes(after: Int, status: Int, count: Int)
        case error(after: Int, String)
        case hangs

        var json: JSONLiteral {
            switch self {
            case .response(let after, let status, let headers, let body):
                [
                    "afterMs": JSONLiteral(after), "status": JSONLiteral(status), "headers": JSONLiteral(headers),
                    "body": JSONLiteral(body),
                ]
            case .bytes(let after, let status, let count):
                [
                    "afterMs": JSONLiteral(after), "status": JSONLiteral(status), "headers": [:],
                    "bodyBytes": JSONLiteral(count),
                ]
            case .error(let after, let name): ["afterMs": JSONLiteral(after), "error": JSONLiteral(name)]
            case .hangs: ["hangs": true]
            }
        }

        /// The server's own 401.
        static func unauthorized(after: Int) -> Self {
            .response(
                after: after, status: 401, headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
        }

        /// Whether a proxy has refused the request, so that the server does not know of it.
        var isRefusalOfProxy: Bool {
            guard case .response(_, 400..<500, let headers, _) = self else { return false }
            return headers.contains { $0 == ("Content-Type", "text/html") }
        }

        /// Whether the server may have done its work before it went wrong.
        var mayHideWork: Bool {
            switch self {
            case .response(_, let status, _, _), .bytes(_, let status, _):
                (200..<300).contains(status) || status == 408 || status >= 500
            case .error(_, let name): name != "untrusted"
            case .hangs: true
            }
        }
    }

    private struct Rule {
        let request: Request
        var answers: [Answer]
    }

    var items: [Item] = []
    var accessTokens: Set<String> = ["access-1"]
    var refreshTokens: Set<String> = ["refresh-1"]
    /// The time of a good answer.
    var latency = 50
    /// The body of `GET /api/push-keys`.
    var pushKeys = ""
    /// Makes a fault of a request: `nil` for a good answer. Tokens are spent in any case; notifications are marked as
    /// read only if the fault may hide that.
    var fault: (Request, _ good: Answer) -> Answer? = { _, _ in nil }
    private var issued = 1
    private var rules: [Rule] = []

    /// The log-in of the user has ended everywhere.
    func endSessions() { (accessTokens, refreshTokens) = ([], []) }

    func answer(_ request: Request) -> Answer {
        let before = items
        let tokens = (accessTokens, refreshTokens, issued)
        let good = work(request)
        let answer = fault(request, good) ?? good
        if !answer.mayHideWork { items = before }
        if answer.isRefusalOfProxy { (accessTokens, refreshTokens, issued) = tokens }
        let index = rules.firstIndex {
            $0.request.method == request.method && $0.request.path == request.path
                && $0.request.query.elementsEqual(request.query, by: ==)
        }
        if let index {
            rules[index].answers.append(answer)
        } else {
            rules.append(Rule(request: request, answers: [answer]))
        }
        return answer
    }

    /// The script. Rules with more members in the query come first.
    var json: JSONLiteral {
        let sorted = rules.enumerated().sorted {
            ($0.element.request.query.count, $1.offset) > ($1.element.request.query.count, $0.offset)
        }
        return JSONLiteral(
            sorted.map(\.element).map { rule in
                // Repeated answers at the end are the rule's last word.
                var answers = rule.answers.map(\.json.value)
                let last = answers.removeLast()
                while answers.last == last { answers.removeLast() }
                return [
                    "method": JSONLiteral(rule.request.method), "path": JSONLiteral(rule.request.path),
                    "query": JSONLiteral(rule.request.query), "answers": JSONLiteral(.array(answers)),
                    "then": JSONLiteral(last),
                ]
            })
    }

    private func work(_ request: Request) -> Answer {
        if request.path == "/api/token" { return token(request) }
        if request.path == "/api/push-keys" { return respond(200, pushKeys) }
        let token = request.authorization.map { String($0.dropFirst("Bearer ".count)) } ?? ""
        guard accessTokens.contains(token) else {
            return .unauthorized(after: latency)
        }
        if request.path == "/api/notifications" { return list(request) }
        let parts = request.path.split(separator: "/").map(String.init)
        guard let index = items.firstIndex(where: { $0.id == parts[2] }) else { return respond(404) }
        if request.path.hasSuffix("/shown") { return respond(204) }
        if items[index].isRevoked { return respond(410) }
        if request.method == "HEAD" { return respond(200) }
        let wasRead = items[index].isRead
        items[index].isRead = true
        let body =
            "{\"Id\":\"\(parts[2])\",\"Payload\":\(items[index].payload),\"Read\":\(wasRead),\"Unread\":\(unread)}"
        return respond(200, body)
    }

    private func token(_ request: Request) -> Answer {
        if let old = request.body["refresh_token"] {
            guard refreshTokens.remove(old) != nil else { return .unauthorized(after: latency) }
        }
        issued += 1
        accessTokens.insert("access-\(issued)")
        refreshTokens.insert("refresh-\(issued)")
        return respond(
            200,
            "{\"access_token\":\"access-\(issued)\",\"token_type\":\"Bearer\",\"expires_in\":3600,"
                + "\"refresh_token\":\"refresh-\(issued)\"}")
    }

    private func list(_ request: Request) -> Answer {
        let query = Dictionary(request.query) { first, _ in first }
        let withPayload = query["include"] == "payload"
        let found = items.indices.filter { index in
            !items[index].isRevoked && (query["Unread"] == nil || !items[index].isRead)
                && query["After"].map { items[index].id > $0 } ?? true
        }
        let page = found.prefix(query["Limit"].flatMap { Int($0) } ?? 50)
        let entries = page.map { index in
            let payload = withPayload ? ",\"Payload\":\(items[index].payload)" : ""
            let entry =
                "{\"Id\":\"\(items[index].id)\",\"CreatedAt\":\"2027-01-15T08:00:00.000Z\","
                + "\"Read\":\(items[index].isRead)\(payload)}"
            if withPayload { items[index].isRead = true }
            return entry
        }
        let next = page.count < found.count ? ",\"Next\":\"\(items[page.last ?? 0].id)\"" : ""
        return respond(200, "{\"Notifications\":[\(entries.joined(separator: ","))],\"Unread\":\(unread)\(next)}")
    }

    private var unread: Int { items.filter { !$0.isRead && !$0.isRevoked }.count }

    private func respond(_ status: Int, _ body: String = "") -> Answer {
        .response(
            after: latency, status: status, headers: body.isEmpty ? [] : [("Content-Type", "application/json")],
            body: body)
    }
}
