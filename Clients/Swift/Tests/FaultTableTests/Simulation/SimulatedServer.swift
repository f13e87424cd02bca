import Foundation
import SecurePushClient

/// The retrieval service, as far as a device sees it: section E of the contract.
///
/// Unchecked, because only the thread of the simulation touches it.
final class SimulatedServer: @unchecked Sendable {
    struct Stored {
        var id: PushID
        var payload: String
        var isRead = false
        var isRevoked = false
    }

    static let host = "push.example.com"
    static let url = URL(string: "https://\(host)")!
    static let user = "alice"
    static let password = "correct horse"

    /// The body of `GET /api/push-keys`; `nil`: 404.
    var pushKeys: Data?
    private(set) var stored: [Stored] = []
    private var accessTokens: Set<String> = []
    private var refreshTokens: Set<String> = []
    private var count = 0
    /// Method and path of each request, in order.
    private(set) var log: [String] = []
    /// Requests to any other host, or with credentials in the URL.
    private(set) var strayRequests = 0
    private(set) var shownReports: Set<String> = []

    /// Stores a secret for the user.
    func send(_ payload: String? = nil) -> PushID {
        count += 1
        let text = String(format: "019aa4a2-1c9b-7000-8000-%012d", count)
        guard let id = PushID(text) else { preconditionFailure("\(text) is no ID") }
        stored.append(Stored(id: id, payload: payload ?? "secret of \(text)"))
        return id
    }

    /// A log-in's tokens.
    func tokens() -> (access: String, refresh: String) {
        count += 1
        let pair = (access: "access-\(count)", refresh: "refresh-\(count)")
        accessTokens.insert(pair.access)
        refreshTokens.insert(pair.refresh)
        return pair
    }

    /// The server refuses the access tokens that it has issued; refresh tokens stay.
    func revokeAccessTokens() { accessTokens = [] }

    /// The user has to log in again.
    func endSessions() {
        accessTokens = []
        refreshTokens = []
    }

    /// The sender withdraws a secret.
    func revoke(_ id: PushID) {
        for index in stored.indices where stored[index].id == id { stored[index].isRevoked = true }
    }

    /// The secrets that a device of the user has fetched. With `DISPATCH_WITHDRAW=read` the server withdraws them from
    /// all devices, the reader included.
    var read: [PushID] { stored.filter(\.isRead).map(\.id) }

    func count(of prefix: String) -> Int { log.filter { $0.hasPrefix(prefix) }.count }

    func respond(to request: TransportRequest) -> TransportResponse {
        guard let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false), parts.host == Self.host,
            parts.scheme == "https", parts.user == nil
        else {
            strayRequests += 1
            return TransportResponse(status: 200)
        }
        log.append("\(request.method) \(parts.path)")
        let query = Dictionary((parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        let path = parts.path.split(separator: "/").map(String.init)
        if path == ["api", "token"] { return token(request) }
        if path == ["api", "push-keys"] {
            return pushKeys.map { TransportResponse(status: 200, body: $0) } ?? .refusal(404)
        }
        guard isAuthorized(request) else {
            return .refusal(401)
        }
        switch (request.method, path.count) {
        case ("GET", 2) where path[1] == "notifications": return inbox(query)
        case ("GET", 3) where path[1] == "notifications": return read(path[2], query)
        case ("HEAD", 3) where path[1] == "notifications":
            let status = status(of: path[2])
            return status == 200 ? TransportResponse(status: 200) : .refusal(status)
        case ("POST", 4) where path[3] == "shown":
            shownReports.insert(path[2])
            return stored.contains { $0.id.rawValue == path[2] } ? TransportResponse(status: 204) : .refusal(404)
        case ("POST", 3) where path[2] == "read": return TransportResponse(status: 204)
        case ("PUT", 3): return TransportResponse(status: 200)
        case ("DELETE", 3), ("PUT", 4): return TransportResponse(status: 204)
        default: return .refusal(404)
        }
    }

    private func isAuthorized(_ request: TransportRequest) -> Bool {
        let value = request.headers.first { $0.key.lowercased() == "authorization" }?.value ?? ""
        if value.hasPrefix("Bearer ") { return accessTokens.contains(String(value.dropFirst(7))) }
        return value == ClientCredentials.basic(userName: Self.user, password: Self.password).authorization
    }

    /// A log-in with the password, or a refresh. A refresh token is single use; a second use ends the family.
    private func token(_ request: TransportRequest) -> TransportResponse {
        let body = String(decoding: request.body ?? Data(), as: UTF8.self)
        if let presented = refreshToken(in: body) {
            guard refreshTokens.remove(presented) != nil else {
                endSessions()
                return .refusal(401)
            }
        } else if !isAuthorized(request) {
            return .refusal(401)
        }
        if request.method == "DELETE" { return TransportResponse(status: 204) }
        let pair = tokens()
        let answer = """
            {"access_token":"\(pair.access)","token_type":"Bearer","expires_in":3600,"refresh_token":"\(pair.refresh)"}
            """
        return TransportResponse(status: 200, body: Data(answer.utf8))
    }

    private func refreshToken(in body: String) -> String? {
        if let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: String] {
            return object["refresh_token"]
        }
        return body.split(separator: "&").first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst(14)) }
    }

    private func status(of id: String) -> Int {
        guard let entry = stored.first(where: { $0.id.rawValue == id }) else { return 404 }
        return entry.isRevoked ? 410 : 200
    }

    private func read(_ id: String, _ query: [String: String]) -> TransportResponse {
        let status = status(of: id)
        guard status == 200, let index = stored.firstIndex(where: { $0.id.rawValue == id }) else {
            return .refusal(status)
        }
        var answer = Self.json(stored[index], withPayload: true)
        stored[index].isRead = true
        if query["include"] == "unread" { answer["Unread"] = unread }
        return Self.answer(answer)
    }

    private func inbox(_ query: [String: String]) -> TransportResponse {
        let withPayload = query["include"] == "payload"
        let limit = min(query["Limit"].flatMap { Int($0) } ?? 50, withPayload ? 20 : 200)
        let found = stored.indices.filter { index in
            let entry = stored[index]
            return !entry.isRevoked && (query["Unread"] != "true" || !entry.isRead)
                && query["After"].map { entry.id.rawValue > $0 } ?? true
        }
        let page = found.prefix(limit)
        var answer: [String: Any] = [:]
        answer["Notifications"] = page.map { Self.json(stored[$0], withPayload: withPayload) }
        if withPayload { for index in page { stored[index].isRead = true } }
        answer["Unread"] = unread
        if found.count > page.count, let last = page.last { answer["Next"] = stored[last].id.rawValue }
        return Self.answer(answer)
    }

    private var unread: Int { stored.filter { !$0.isRead && !$0.isRevoked }.count }

    private static func json(_ entry: Stored, withPayload: Bool) -> [String: Any] {
        var object: [String: Any] = ["Id": entry.id.rawValue, "Read": entry.isRead]
        if withPayload { object["Payload"] = entry.payload } else { object["CreatedAt"] = "2026-11-22T10:00:00.000Z" }
        return object
    }

    private static func answer(_ object: [String: Any]) -> TransportResponse {
        let body = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        return TransportResponse(status: 200, headers: ["Content-Type": "application/json"], body: body)
    }
}

extension TransportResponse {
    /// An error of the server.
    static func refusal(_ status: Int, headers: [String: String] = [:]) -> Self {
        var all = ["Content-Type": "application/problem+json"]
        if status == 401 { all["WWW-Authenticate"] = "Bearer error=\"invalid_token\", Basic" }
        return TransportResponse(status: status, headers: all.merging(headers) { $1 })
    }

    /// The page of a proxy or a captive portal.
    static func ofProxy(_ status: Int, _ text: String = "<html></html>") -> Self {
        TransportResponse(status: status, headers: ["Content-Type": "text/html"], body: Data(text.utf8))
    }
}
