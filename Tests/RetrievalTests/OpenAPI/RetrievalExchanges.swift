import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceRuntime
import TestSupport
import Testing

@testable import Retrieval

/// Every operation of the retrieval API with every status that can be brought about within one process.
struct RetrievalExchanges: Sendable {
    let bench: RetrievalBench
    let ledger: APILedger

    static let inbox = "/api/notifications"
    static let register = "/api/register"
    static let installation = "/api/installations/phone-1"
    static let key = "/api/devices/phone-1/key"
    static let jwk =
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
    static let device = #"{"Platform":"apns","Handle":"00fc13adff785122","Tags":["ward:7"]}"#
    static let tooLong = String(repeating: " ", count: 65_537)

    static func run() async throws -> APILedger {
        let ledger = APILedger()
        try await withRetrieval(
            refreshTTL: .seconds(600), readiness: [ReadinessCheck(name: "database") { nil }]
        ) { bench in
            let exchanges = RetrievalExchanges(bench: bench, ledger: ledger)
            try await exchanges.operations()
            try await exchanges.reading()
            try await exchanges.marking()
            try await exchanges.answering()
            try await exchanges.tokens()
            try await exchanges.registrations()
            try await exchanges.installations()
            try await exchanges.keys()
            try await exchanges.refusedForTheirFields()
            try await exchanges.hubFailures()
            try await exchanges.throttled()
        }
        try await withRetrieval(
            issuesTokens: false, readiness: [ReadinessCheck(name: "database") { "away" }]
        ) { bench in
            let exchanges = RetrievalExchanges(bench: bench, ledger: ledger)
            try await exchanges.call(503, .get, "/readyz", by: "")
            try await exchanges.call(404, .post, "/api/token", by: bench.basic())
            try await exchanges.call(404, .get, "/api/push-keys", by: "")
            try await exchanges.call(404, .get, "/api/push-config", by: "")
            try await exchanges.call(404, .delete, "/api/token", Self.refresh(Self.unknownToken), by: "")
        }
        for (status, code) in [(503, StorageError.Code.unavailable), (500, .failed)] {
            let error = StorageError(code, "for the test")
            try await withRetrieval(
                deviceError: error, reader: AwayStore(error), refreshTTL: .seconds(600)
            ) { bench in
                try await RetrievalExchanges(bench: bench, ledger: ledger).storeFailures(status)
            }
        }
        return ledger
    }

    /// - Parameter authorization: alice's token unless given; empty leaves the header out.
    @discardableResult func call(
        _ status: Int, _ method: HTTPRequest.Method, _ uri: String, _ body: String = "",
        by authorization: String? = nil,
        type: String? = nil, _ more: HTTPFields = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        var headers = more
        let authorization = try authorization ?? bench.token()
        if !authorization.isEmpty { headers[.authorization] = authorization }
        headers[.contentType] = type ?? (body.isEmpty ? nil : "application/json")
        return try await ledger.send(
            bench.client, method, uri, headers: headers, body: body, expecting: status, sourceLocation: sourceLocation)
    }

    private func operations() async throws {
        for path in ["/livez", "/readyz", "/metrics", "/version", "/openapi.json"] {
            try await call(200, .get, path, by: "")
            try await call(200, .head, path, by: "")
            try await call(405, .delete, path, by: "")
        }
        try await call(404, .get, "/nothing", by: "")
        for path in [Self.inbox, "\(Self.register)/1", "/api/token", "/api/devices", "/api/installations"] {
            try await call(405, .patch, path, by: "")
        }
    }

    private func reading() async throws {
        let ids = [try await bench.accept(#"{"n":1.10}"#), try await bench.accept("null", display: .app)]
        try await call(200, .head, "\(Self.inbox)/\(ids[1])")
        let path = "\(Self.inbox)/\(ids[0])"
        for method in [HTTPRequest.Method.head, .get, .get] { try await call(200, method, path) }
        for page in ["", "?Limit=1", "?Unread=true", "?Unread=false&After=\(ids[0])&Limit=200", "?include=payload"] {
            try await call(200, .get, Self.inbox + page)
        }
        try await call(200, .get, "\(path)?include=unread")
        try await call(422, .get, "\(path)?include=payload")
        try await call(422, .get, "\(Self.inbox)?Unread=perhaps&After=x&Limit=201&Before=x")
        try await call(404, .get, "\(Self.inbox)/\(NotificationID())")
        try await call(404, .get, path, by: try bench.token("bob"))
        let expired = try await bench.accept("1", expiresAt: .now - .seconds(1))
        try await call(410, .get, "\(Self.inbox)/\(expired)")
        for uri in [path, Self.inbox] {
            try await call(401, .get, uri, by: "")
            try await call(401, .get, uri, by: try bench.token(at: .now - .seconds(3600)))
            try await call(401, .get, uri, by: bench.basic("alice", "wrong"))
        }
    }

    private func marking() async throws {
        let id = try await bench.accept("1")
        let (read, shown) = ("\(Self.inbox)/read", "\(Self.inbox)/\(id)/shown")
        for body in try await examples("post", read) { try await call(204, .post, read, body) }
        for body in [#"{"Ids":["\#(id)"],"Through":null}"#, #"{"Ids":null,"Through":"\#(id)"}"#, #"{"Ids":[]}"#] {
            try await call(204, .post, read, body)
        }
        try await call(400, .post, read, "{")
        try await call(413, .post, read, Self.tooLong)
        try await call(415, .post, read, #"{"Ids":[]}"#, type: "text/plain")
        try await call(422, .post, read, #"{"Ids":["\#(id)"],"Through":"\#(id)"}"#)
        for _ in 0..<2 { try await call(204, .post, shown) }
        for example in try await examples("post", "\(Self.inbox)/{id}/shown") {
            try await call(204, .post, shown, example)
        }
        for body in [#"{"Text":"secret","Code":null,"Sdk":null,"DeviceId":null}"#, #"{"Text":"generic"}"#] {
            try await call(204, .post, shown, body)
        }
        try await call(400, .post, shown, "{")
        try await call(413, .post, shown, Self.tooLong)
        try await call(415, .post, shown, #"{"Text":"secret"}"#, type: "text/plain")
        try await call(422, .post, shown, #"{"Text":"","Code":"x","Sdk":" ","DeviceId":".."}"#)
        try await call(404, .post, shown, by: try bench.token("bob"))
        let expired = try await bench.accept("1", expiresAt: .now - .seconds(1))
        try await call(410, .post, "\(Self.inbox)/\(expired)/shown")
        for uri in [read, shown] {
            try await call(401, .post, uri, by: "")
            for method in [HTTPRequest.Method.put, .options] { try await call(405, method, uri, by: "") }
        }
        for method in [HTTPRequest.Method.get, .head] { try await call(405, method, shown, by: "") }
    }

    private func answering() async throws {
        let path = { (id: NotificationID) in "\(Self.inbox)/\(id)/answer" }
        let options = ["approve", "deny"]
        let asked = try await bench.accept("1", display: .redacted, answers: options, challenge: "42")
        try await call(200, .get, "\(Self.inbox)/\(asked)")
        try await call(422, .post, path(asked), #"{"Action":"approve","Challenge":"24"}"#)
        try await call(204, .post, path(asked), #"{"Action":"approve","Challenge":"42"}"#)
        let open = try await bench.accept("1", answers: options)
        let full = #"{"Action":"deny","Text":"No.","Challenge":null,"DeviceId":"phone-1"}"#
        for body in [full, #"{"Action":"deny","Text":"No.","DeviceId":null}"#] {
            try await call(204, .post, path(open), body)
        }
        try await call(409, .post, path(open), #"{"Action":"deny","Text":null}"#)
        try await call(422, .post, path(open), #"{"Text":1,"DeviceId":"..","Way":1}"#)
        try await call(400, .post, path(open), "{")
        try await call(413, .post, path(open), Self.tooLong)
        try await call(415, .post, path(open), full, type: "text/plain")
        try await call(404, .post, path(open), full, by: try bench.token("bob"))
        try await call(401, .post, path(open), full, by: "")
        let expired = try await bench.accept("1", expiresAt: .now - .seconds(1), answers: options)
        try await call(410, .post, path(expired), full)
        for method in [HTTPRequest.Method.put, .options, .get, .head] {
            try await call(405, method, path(open), by: "")
        }
    }

    private func tokens() async throws {
        for method in [HTTPRequest.Method.get, .head] {
            for keys in ["/api/push-keys", "/api/push-config"] { try await call(200, method, keys, by: "") }
        }
        let path = "/api/token"
        let form = "application/x-www-form-urlencoded"
        var token = try Self.refreshToken(try await call(200, .post, path, by: bench.basic()))
        try await call(401, .post, path)
        token = try Self.refreshToken(try await call(200, .post, path, Self.refresh(token), by: ""))
        let filled = "grant_type=refresh_token&refresh_token=\(token)&scope=inbox&client_id=app"
        token = try Self.refreshToken(try await call(200, .post, path, filled, by: "", type: form))
        try await call(401, .post, path, Self.refresh(Self.unknownToken), by: "")
        for method in [HTTPRequest.Method.post, .delete] {
            try await call(400, method, path, "{", by: "")
            try await call(413, method, path, Self.tooLong, by: "")
            try await call(415, method, path, "x", by: "", type: "text/plain")
            try await call(422, method, path, #"{"grant_type":"password","x":1}"#, by: "")
        }
        try await call(400, .delete, path, by: "")
        try await call(204, .delete, path, Self.refresh(token), by: "")
        try await call(204, .delete, path, filled, by: "", type: form)
        try await call(401, .post, path, Self.refresh(token), by: "")
    }

    /// Well formed, and of no family.
    private static let unknownToken = String(repeating: "A", count: 64)

    private static func refresh(_ token: String) -> String {
        #"{"grant_type":"refresh_token","refresh_token":"\#(token)","scope":"inbox","client_id":"app"}"#
    }

    private static func refreshToken(_ answer: TestResponse) throws -> String {
        try #require(JSONNode(answer.body.readableBytesView)["refresh_token"]?.text)
    }

    private func registrations() async throws {
        let answer = try await call(200, .post, "\(Self.register)?handle=00fc13adff785122")
        let id = try JSONNode(answer.body.readableBytesView).text
        let path = "\(Self.register)/\(try #require(id))"
        try await call(200, .post, Self.register)
        try await call(200, .put, path, #"{"Platform":"fcmv1","Handle":"a:b","Tags":null}"#)
        for example in try await examples("put", "\(Self.register)/{id}") { try await call(200, .put, path, example) }
        try await call(400, .put, path, "{")
        try await call(413, .put, path, Self.tooLong)
        try await call(415, .put, path, Self.device, type: "text/plain")
        try await call(422, .put, path, #"{"Platform":"ios","Handle":"","Tags":["username:bob"],"x":1}"#)
        try await call(422, .post, "\(Self.register)?handle=&name=x")
        try await call(404, .put, path, Self.device, by: try bench.token("bob"))
        try await call(404, .delete, path, by: try bench.token("bob"))
        for (method, uri) in [(HTTPRequest.Method.post, Self.register), (.put, path), (.delete, path)] {
            try await call(401, method, uri, by: "")
        }
        try await call(200, .delete, path)
    }

    private func installations() async throws {
        let all = #"""
            {"installationId":"phone-1","platform":"wns","pushChannel":"https://example.org/1","tags":["a"],
            "templates":{"t":{"body":"{}","headers":{"X-WNS-Type":"wns/raw"},"tags":["b"],"expiry":"2999-01-01"}},
            "secondaryTiles":{"s":{"pushChannel":"https://example.org/2","tags":["c"],
            "templates":{"u":{"body":"{}","headers":{"X-WNS-Type":"wns/raw"},"tags":["d"],"expiry":"2999-01-01"}}}},
            "userId":1,"expirationTime":"2999-01-01T00:00:00Z","pushVariables":{"v":"w"},"expiredPushChannel":null,
            "pushChannelExpired":false,"lastUpdate":null,"lastActiveOn":"2026-11-21"}
            """#
        let nothing = #"""
            {"installationId":null,"platform":"apns","pushChannel":"00fc","tags":null,"templates":null,
            "secondaryTiles":null,"expirationTime":null,"pushVariables":null}
            """#
        let path = Self.installation
        for body in try await examples("put", "/api/installations/{id}") + [nothing, all] {
            try await call(200, .put, path, body)
            try await call(200, .get, path)
            try await call(200, .get, "/api/installations")
        }
        try await call(200, .head, path)
        try await call(200, .put, "/api/installations/tablet", #"{"platform":"apns","pushChannel":"00f0"}"#)
        try await call(200, .get, "/api/installations?Limit=1&After=a")
        try await call(422, .get, "/api/installations?Limit=0&After=%20&Before=x")
        try await call(401, .get, "/api/installations", by: "")
        try await call(401, .delete, "/api/devices", by: "")
        try await call(400, .put, path, "{")
        try await call(413, .put, path, Self.tooLong)
        try await call(415, .put, path, nothing, type: "text/plain")
        try await call(422, .put, path, #"{"installationId":"x","platform":"ios","tags":["$a"],"x":1}"#)
        let bob = try bench.token("bob")
        try await call(404, .put, path, #"{"platform":"apns","pushChannel":"00fd"}"#, by: bob)
        for method in [HTTPRequest.Method.get, .delete] { try await call(404, method, path, by: bob) }
        for method in [HTTPRequest.Method.get, .put, .delete] { try await call(401, method, path, by: "") }
        try await call(204, .delete, path)
        try await call(204, .delete, "/api/devices")
    }

    private func keys() async throws {
        try await call(200, .put, Self.installation, #"{"platform":"apns","pushChannel":"00fb"}"#)
        for example in try await examples("put", "/api/devices/{id}/key") {
            try await call(204, .put, Self.key, example)
        }
        try await call(204, .put, Self.key, Self.jwk.dropLast() + #","key_ops":[],"ext":true}"#)
        try await call(400, .put, Self.key, "{")
        try await call(413, .put, Self.key, Self.tooLong)
        try await call(415, .put, Self.key, Self.jwk, type: "text/plain")
        try await call(422, .put, Self.key, #"{"kty":"OKP","crv":"P-384","x":"","y":1,"d":""}"#)
        try await call(404, .put, Self.key, Self.jwk, by: try bench.token("bob"))
        try await call(401, .put, Self.key, Self.jwk, by: "")
        for method in [HTTPRequest.Method.get, .delete] { try await call(405, method, Self.key, by: "") }
        try await call(204, .delete, Self.installation)
    }

    /// A page of another site, and a token that is too long.
    private func refusedForTheirFields() async throws {
        let (notification, registration) = ("\(Self.inbox)/\(NotificationID())", "\(Self.register)/1")
        let changes: [(HTTPRequest.Method, String)] = [
            (.get, "\(Self.inbox)?include=payload"), (.get, notification), (.post, "\(Self.inbox)/read"),
            (.post, "\(notification)/shown"), (.post, "\(notification)/answer"), (.post, Self.register),
            (.put, registration), (.delete, registration),
            (.delete, "/api/devices"), (.put, Self.key), (.put, Self.installation), (.delete, Self.installation),
        ]
        for (method, uri) in changes + [(.post, "/api/token"), (.delete, "/api/token")] {
            try await call(403, method, uri, by: bench.basic(), [.origin: "https://evil.example"])
        }
        let token = "Bearer " + String(repeating: "a", count: 16_385)
        for (method, uri) in changes + [(.get, "/api/installations"), (.get, Self.installation)] {
            try await call(431, method, uri, by: token)
        }
    }

    private func hubFailures() async throws {
        let id = try JSONNode(try await call(200, .post, Self.register).body.readableBytesView).text
        let path = "\(Self.register)/\(try #require(id))"
        let installation = #"{"platform":"apns","pushChannel":"00fe"}"#
        try await call(200, .put, Self.installation, installation)
        for (status, code) in [(502, PushGatewayError.Code.rejected), (503, .unavailable)] {
            bench.hub.fail(PushGatewayError(code, "for the test"))
            try await call(status, .post, Self.register)
            try await call(status, .put, path, Self.device)
            try await call(status, .delete, path)
            try await call(status, .put, Self.installation, installation)
            try await call(status, .delete, Self.installation)
            try await call(status, .delete, "/api/devices")
        }
        bench.hub.fail(nil)
        bench.hub.failPuts(PushGatewayError(.gone, "for the test"))
        try await call(410, .put, path, Self.device)
        try await call(410, .put, Self.installation, installation)
        bench.hub.failPuts(nil)
    }

    /// A user whose password was wrong too often is not checked again for a while.
    private func throttled() async throws {
        let mallory = bench.basic("mallory", "wrong")
        for number in 0..<5 { try await call(401, .get, Self.inbox, by: bench.basic("mallory", "\(number)")) }
        for uri in [Self.inbox, "\(Self.inbox)/\(NotificationID())", Self.installation, "/api/installations"] {
            try await call(429, .get, uri, by: mallory)
        }
        try await call(429, .delete, "/api/devices", by: mallory)
        for uri in [
            "/api/token", Self.register, "\(Self.inbox)/read", "\(Self.inbox)/1/shown", "\(Self.inbox)/1/answer",
        ] {
            try await call(429, .post, uri, by: mallory)
        }
        try await call(429, .put, Self.key, Self.jwk, by: mallory)
        for uri in ["\(Self.register)/1", Self.installation] {
            try await call(429, .put, uri, Self.device, by: mallory)
            try await call(429, .delete, uri, by: mallory)
        }
    }

    private func storeFailures(_ status: Int) async throws {
        for uri in [Self.inbox, "\(Self.inbox)/\(NotificationID())", Self.installation, "/api/installations"] {
            try await call(status, .get, uri)
        }
        try await call(status, .post, "\(Self.inbox)/read", #"{"Ids":["\#(NotificationID())"]}"#)
        try await call(status, .post, "\(Self.inbox)/\(NotificationID())/shown")
        try await call(status, .post, "\(Self.inbox)/\(NotificationID())/answer", #"{"Action":"deny"}"#)
        for method in [HTTPRequest.Method.post, .delete] {
            try await call(status, method, "/api/token", Self.refresh(Self.unknownToken), by: "")
        }
        try await call(status, .delete, "/api/devices")
        try await call(status, .put, Self.key, Self.jwk)
        try await call(status, .post, Self.register)
        for path in ["\(Self.register)/1"] { try await call(status, .put, path, Self.device) }
        try await call(status, .put, Self.installation, #"{"platform":"apns","pushChannel":"00ff"}"#)
        for path in ["\(Self.register)/1", Self.installation] { try await call(status, .delete, path) }
    }

    /// The document's own request bodies.
    private func examples(_ method: String, _ path: String) async throws -> [String] {
        let answer = try await call(200, .get, "/openapi.json", by: "")
        let description = APIDescription(try JSONNode(answer.body.readableBytesView))
        let examples = try description.requestExamples(method, path).map { try $0.json() }
        #expect(!examples.isEmpty)
        return examples
    }
}
