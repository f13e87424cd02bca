import Foundation

@testable import SecurePushClient

/// The retrieval service, as a transport: notifications of one user, tokens, installations, and faults.
final class SimulatedServer: Transport, @unchecked Sendable {
    // Unchecked: the lock guards all that changes.
    private let lock = NSLock()
    private let clock: SimulatedClock
    private var state = State()

    struct Item: Sendable {
        var id: String
        var payload: String
        var isRead = false
        var isRevoked = false
        /// Not in the inbox and 404 until it is published.
        var isHidden = false
        /// Other members of the answers, such as `"Display":"app"`.
        var more = ""
    }

    enum Fault: Sendable {
        case response(TransportResponse)
        case error(TransportError)
        /// No answer within the time-out.
        case hang
        /// Runs before the real answer is made, for example to withdraw the notification.
        case meanwhile(@Sendable () async -> Void)
    }

    struct State: Sendable {
        var items: [Item] = []
        var token = "token-1"
        var refreshTokens: Set<String> = []
        var issued = 1
        var issuesTokens = true
        var installations: [String: String] = [:]
        var goneInstallations: Set<String> = []
        var devicesPerPage = 100
        /// Public keys for end-to-end encryption, by installation.
        var keys: [String: String] = [:]
        var pushKeys: Data?
        var supportsPayloadPages = true
        /// The secrets that are reported as shown.
        var shown: [String] = []
        /// The generic texts that are reported: ID and code.
        var generic: [String] = []
        /// The last report.
        var lastReport: [String: String] = [:]
        /// The answer to each notification.
        var answers: [String: [String: String]] = [:]
        var requests: [TransportRequest] = []
        var faults: [(prefix: String, fault: Fault)] = []
    }

    init(clock: SimulatedClock) { self.clock = clock }

    @discardableResult
    func change<Result>(_ body: (inout State) -> Result) -> Result { lock.withLock { body(&state) } }

    var requests: [String] {
        change { state in state.requests.map { "\($0.method) \(Self.target($0.url))" } }
    }

    /// Adds a notification.
    func add(_ id: String, _ payload: String = "\"secret\"", isHidden: Bool = false, _ more: String = "") {
        change { $0.items.append(Item(id: id, payload: payload, isHidden: isHidden, more: more)) }
    }

    /// The next request whose `METHOD path` begins in this way ends so.
    func fail(_ prefix: String, _ fault: Fault, times: Int = 1) {
        change { state in for _ in 0..<times { state.faults.append((prefix, fault)) } }
    }

    func send(_ request: TransportRequest, timeout: TimeInterval, maxBytes: Int) async throws -> TransportResponse {
        let line = "\(request.method) \(Self.target(request.url))".replacingOccurrences(of: "/base/api/", with: "")
        let fault: Fault? = change { state in
            state.requests.append(request)
            guard let index = state.faults.firstIndex(where: { line.hasPrefix($0.prefix) }) else { return nil }
            return state.faults.remove(at: index).fault
        }
        switch fault {
        case .response(let response): return response
        case .error(let error): throw error
        case .hang:
            clock.advance(by: timeout)
            throw TransportError.timedOut
        case .meanwhile(let body):
            await body()
            return change { $0.answer(request) }
        case nil: return change { $0.answer(request) }
        }
    }

    static func target(_ url: URL) -> String {
        url.query.map { "\(url.path)?\($0)" } ?? url.path
    }
}

extension SimulatedServer.State {
    mutating func answer(_ request: TransportRequest) -> TransportResponse {
        let parts = request.url.path.split(separator: "/").map(String.init).filter { $0 != "base" }
        if parts == ["api", "push-keys"] {
            return pushKeys.map { TransportResponse(status: 200, body: $0) } ?? .refusal(404)
        }
        if parts == ["api", "token"] { return answerToken(request) }
        let password = ClientCredentials.basic(userName: "alice", password: "pw").authorization
        guard request.headers["Authorization"] == (issuesTokens ? "Bearer \(token)" : password) else {
            return .refusal(401)
        }
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let parameters = Dictionary(query.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        switch (request.method, parts.count, parts.dropFirst().first) {
        case ("PUT", 3, "installations"):
            if goneInstallations.contains(parts[2]) { return .refusal(410) }
            installations[parts[2]] = request.body.map { String(decoding: $0, as: UTF8.self) }
            return TransportResponse(status: 200)
        case ("PUT", 4, "devices"):
            guard installations[parts[2]] != nil else { return .refusal(404) }
            keys[parts[2]] = request.body.map { String(decoding: $0, as: UTF8.self) }
            return TransportResponse(status: 204)
        case ("GET", 2, "installations"): return devices(parameters)
        case ("DELETE", 2, "devices"):
            installations = [:]
            return TransportResponse(status: 204)
        case ("DELETE", 3, "installations"):
            return installations.removeValue(forKey: parts[2]) == nil ? .refusal(404) : TransportResponse(status: 204)
        case ("GET", 2, "notifications"): return page(parameters)
        case ("GET", 3, "notifications"), ("HEAD", 3, "notifications"):
            return secret(parts[2], parameters, marks: request.method == "GET")
        case ("POST", 3, "notifications"): return TransportResponse(status: 204)
        case ("POST", 4, "notifications"): return note(request, parts[2], isAnswer: parts[3] == "answer")
        default: return .refusal(404)
        }
    }

    /// A report of what was shown, or an answer. The first answer counts, and its challenge is 42.
    private mutating func note(_ request: TransportRequest, _ id: String, isAnswer: Bool) -> TransportResponse {
        let body = request.body.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
        if isAnswer {
            if let known = answers[id] { return known == body ? TransportResponse(status: 204) : .refusal(409) }
            guard ["approve", "deny"].contains(body["Action"]), body["Challenge"] ?? "42" == "42" else {
                return .refusal(422)
            }
            guard items.contains(where: { $0.id == id && !$0.isRevoked }) else { return .refusal(410) }
            answers[id] = body
            return TransportResponse(status: 204)
        }
        lastReport = body
        if body["Text"] == "generic" { generic.append("\(id) \(body["Code"] ?? "-")") } else { shown.append(id) }
        return TransportResponse(status: 204)
    }

    private mutating func secret(_ id: String, _ query: [String: String], marks: Bool) -> TransportResponse {
        guard let index = items.firstIndex(where: { $0.id == id && !$0.isHidden }) else {
            return .refusal(404)
        }
        if items[index].isRevoked { return .refusal(410) }
        let wasRead = items[index].isRead
        if marks { items[index].isRead = true }
        guard marks else { return TransportResponse(status: 200) }
        let unread = query["include"] == "unread" ? ",\"Unread\":\(unreadCount)" : ""
        let more = items[index].more.isEmpty ? "" : ",\(items[index].more)"
        return json("{\"Id\":\"\(id)\",\"Payload\":\(items[index].payload),\"Read\":\(wasRead)\(unread)\(more)}")
    }

    private mutating func page(_ query: [String: String]) -> TransportResponse {
        let limit = Int(query["Limit"] ?? "") ?? 50
        let hasPayloads = query["include"] == "payload" && supportsPayloadPages
        var found = items.indices.filter { !items[$0].isHidden && !items[$0].isRevoked }
        if query["Unread"] == "true" { found = found.filter { !items[$0].isRead } }
        if let after = query["After"] { found = found.filter { items[$0].id > after } }
        found.sort { items[$0].id < items[$1].id }
        let page = found.prefix(hasPayloads ? min(limit, 20) : limit)
        let entries = page.map { index in
            let more = items[index].more.isEmpty ? "" : ",\(items[index].more)"
            let payload = hasPayloads ? ",\"Payload\":\(items[index].payload)\(more)" : ""
            let time = "\"CreatedAt\":\"2026-11-21T08:30:00.500Z\""
            let entry = "{\"Id\":\"\(items[index].id)\",\(time),\"Read\":\(items[index].isRead)\(payload)}"
            if hasPayloads { items[index].isRead = true }
            return entry
        }
        let next = found.count > page.count ? ",\"Next\":\"\(items[page.last ?? 0].id)\"" : ""
        return json("{\"Notifications\":[\(entries.joined(separator: ","))],\"Unread\":\(unreadCount)\(next)}")
    }

    private func devices(_ query: [String: String]) -> TransportResponse {
        let limit = min(Int(query["Limit"] ?? "") ?? 100, devicesPerPage)
        let found = installations.keys.sorted().filter { $0 > query["After"] ?? "" }
        let page = found.prefix(limit).map { id in
            #"{"installationId":"\#(id)","platform":"apns","pushChannel":"00ff","tags":[],"#
                + #""UpdatedAt":"2026-11-21T08:30:00.000Z","LastSeenAt":"2026-11-22T00:00:00.000Z"}"#
        }
        let next = found.count > page.count ? ",\"Next\":\"\(found[page.count - 1])\"" : ""
        return json("{\"Installations\":[\(page.joined(separator: ","))]\(next)}")
    }

    private mutating func answerToken(_ request: TransportRequest) -> TransportResponse {
        guard issuesTokens else { return .refusal(404) }
        let body = request.body.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }
        if request.method == "DELETE" {
            refreshTokens = []
            return TransportResponse(status: 204)
        }
        if let old = body?["refresh_token"] {
            guard refreshTokens.remove(old) != nil else { return .refusal(401) }
        } else if request.headers["Authorization"]
            != ClientCredentials.basic(userName: "alice", password: "pw")
            .authorization
        {
            return .refusal(401)
        }
        issued += 1
        token = "token-\(issued)"
        refreshTokens.insert("refresh-\(issued)")
        return json(
            "{\"access_token\":\"\(token)\",\"token_type\":\"Bearer\",\"expires_in\":3600,"
                + "\"refresh_token\":\"refresh-\(issued)\"}")
    }

    private var unreadCount: Int { items.filter { !$0.isRead && !$0.isHidden && !$0.isRevoked }.count }

    private func json(_ text: String) -> TransportResponse { TransportResponse(status: 200, body: Data(text.utf8)) }
}

extension TransportResponse {
    /// An error of the server.
    static func refusal(_ status: Int) -> Self {
        var headers = ["Content-Type": "application/problem+json"]
        if status == 401 { headers["WWW-Authenticate"] = "Bearer error=\"invalid_token\", Basic" }
        return TransportResponse(status: status, headers: headers)
    }

    /// The page of a proxy or a captive portal.
    static func ofProxy(_ status: Int, _ text: String = "<html></html>") -> Self {
        TransportResponse(status: status, headers: ["Content-Type": "text/html"], body: Data(text.utf8))
    }
}
