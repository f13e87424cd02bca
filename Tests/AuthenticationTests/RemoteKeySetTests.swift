import Domain
import Foundation
import Foundations
import Hummingbird
import Logging
import OutgoingHTTP
import ServiceConfiguration
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Authentication

/// A small issuer on loopback, whose answer the test sets.
final class KeyServer: Sendable {
    struct Answer: Sendable {
        var status = HTTPResponse.Status.ok
        var body = ""
        var location: String?
        /// Whether a byte is sent every 100 ms for 10 s, and the body only then.
        var isSlow = false
    }

    let answer: Mutex<Answer>
    let requests = Mutex(0)

    init(_ body: String) { answer = Mutex(Answer(body: body)) }

    func set(_ body: String, status: HTTPResponse.Status = .ok) {
        answer.withLock { $0 = Answer(status: status, body: body) }
    }

    var requestCount: Int { requests.withLock { $0 } }

    /// Runs a body with the URL of the key set.
    func withURL(_ body: (String) async throws -> Void) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let router = Router()
        router.get("keys") { _, _ in
            self.requests.withLock { $0 += 1 }
            let answer = self.answer.withLock { $0 }
            let headers: HTTPFields = answer.location.map { [.location: $0] } ?? [:]
            let body = ResponseBody { writer in
                for _ in 0..<(answer.isSlow ? 100 : 0) {
                    try await writer.write(ByteBuffer(string: " "))
                    try await Task.sleep(for: .milliseconds(100))
                }
                try await writer.write(ByteBuffer(string: answer.body))
                try await writer.finish(nil)
            }
            return Response(status: answer.status, headers: headers, body: body)
        }
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let port = try #require(await ports.first { _ in true })
            try await body("http://127.0.0.1:\(port)/keys")
            group.cancelAll()
            try? await group.waitForAll()
        }
    }
}

struct RemoteKeySetTests {
    private func withBench(
        _ server: KeyServer, _ body: (AuthenticatorBench) async throws -> Void
    ) async throws {
        try await server.withURL { url in
            try await withAuthenticator(
                jwks: nil, configure: { configuration, _ in configuration.jwksURL = url }, body)
        }
    }

    private func token(_ key: TestKey, _ keyID: String, _ more: String = "") throws -> String {
        "Bearer " + (try key.token(header: #"{"alg":"ES256","kid":"\#(keyID)"}"#, claims: claims(more)))
    }

    @Test func `Keys are fetched through the proxy`() async throws {
        let key = TestKey.es256()
        let server = KeyServer(jwks(key.jwk(#""kid":"a""#)))
        try await server.withURL { url in
            let port = try #require(URLComponents(string: url)?.port)
            let tunnels = try await ConnectProxy(to: port)
            let proxy = try OutgoingProxy("http://u:p@127.0.0.1:\(tunnels.port)")
            try await withAuthenticator(
                jwks: nil,
                configure: { configuration, _ in
                    configuration.jwksURL = "http://keys.invalid/keys"
                    configuration.isInsecureJWKSAllowed = true
                    configuration.outgoing.httpProxy = proxy
                },
                { bench in try await bench.expectUser(token(key, "a"), "alice") })
            // No resolver knows the host.
            #expect(tunnels.heads.count == 1)
            #expect(tunnels.heads.first?.hasPrefix("CONNECT keys.invalid:80 HTTP/1.1\r\n") == true)
            #expect(tunnels.heads.first?.lowercased().contains("proxy-authorization: basic dtpw") == true)
            try await tunnels.stop()
        }
        #expect(server.requestCount == 1)
    }

    @Test func `Keys are fetched once for all`() async throws {
        let key = TestKey.es256()
        let server = KeyServer(jwks(key.jwk(#""kid":"a""#)))
        try await withBench(server) { bench in
            for number in 0..<20 { try await bench.expectUser(token(key, "a", #""n":\#(number)"#), "alice") }
            #expect(server.requestCount == 1)
        }
    }

    @Test func `Many at once share one fetch`() async throws {
        let key = TestKey.es256()
        let server = KeyServer(jwks(key.jwk(#""kid":"a""#)))
        try await withBench(server) { bench in
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<40 {
                    let header = try token(key, "a", #""n":\#(number)"#)
                    group.addTask { try await bench.user(header) }
                }
                for try await user in group { #expect(user == "alice") }
            }
            #expect(server.requestCount == 1)
        }
    }

    @Test func `An unknown key is looked for but not too often`() async throws {
        let (old, new) = (TestKey.es256(), TestKey.es256())
        let server = KeyServer(jwks(old.jwk(#""kid":"old""#)))
        try await withBench(server) { bench in
            try await bench.expectUser(token(old, "old"), "alice")
            server.set(jwks(new.jwk(#""kid":"new""#)))
            try await bench.expectRefusal(token(new, "new"), .invalid)
            #expect(server.requestCount == 1)
            bench.clock.advance(by: .seconds(10))
            try await bench.expectUser(token(new, "new"), "alice")
            try await bench.expectRefusal(token(old, "old"), .invalid)
            #expect(server.requestCount == 2)
        }
    }

    @Test func `Tokens that cannot be good ask for nothing`() async throws {
        let server = KeyServer(jwks(TestKey.es256().jwk()))
        try await withBench(server) { bench in
            let key = TestKey.es256()
            try await bench.expectRefusal("Bearer \(key.token(claims: claims(expiresIn: -60)))", .expired)
            #expect(await bench.refusal("Bearer a.b.c")?.code == .malformed)
            #expect(server.requestCount == 0)
        }
    }

    @Test func `Old keys are fetched again and a withdrawn one is forgotten`() async throws {
        let (old, new) = (TestKey.es256(), TestKey.es256())
        let server = KeyServer(jwks(old.jwk(#""kid":"old""#)))
        try await withBench(server) { bench in
            let header = try token(old, "old")
            try await bench.expectUser(header, "alice")
            server.set(jwks(new.jwk(#""kid":"new""#)))
            bench.clock.advance(by: .seconds(300))
            try await bench.expectRefusal(header, .invalid)
            #expect(server.requestCount == 2)
        }
    }

    @Test(arguments: [HTTPResponse.Status.internalServerError, .notFound, .found, .ok])
    func `Keys stay while the URL is down`(status: HTTPResponse.Status) async throws {
        let key = TestKey.es256()
        let server = KeyServer(jwks(key.jwk(#""kid":"a""#)))
        try await withBench(server) { bench in
            try await bench.expectUser(token(key, "a"), "alice")
            server.set("no key set", status: status)
            bench.clock.advance(by: .seconds(301))
            try await bench.expectRefusal(token(key, "b"), .unavailable)
            try await bench.expectUser(token(key, "a", #""n":1"#), "alice")
            #expect(server.requestCount == 2)
        }
    }

    /// Finding 25: before, a key that was withdrawn at an issuer that cannot be reached was trusted for ever.
    @Test func `Keys are trusted for a day at most`() async throws {
        let key = TestKey.es256()
        let server = KeyServer(jwks(key.jwk(#""kid":"a""#)))
        try await withBench(server) { bench in
            let source = try #require(bench.authenticator.sources.first { $0.key == "AUTH_JWKS_URL" })
            let header =
                "Bearer "
                + (try key.token(
                    header: #"{"alg":"ES256","kid":"a"}"#, claims: claims(expiresIn: 1_000_000)))
            try await bench.expectUser(header, "alice")
            #expect(source.problem() == nil)
            server.set("", status: .serviceUnavailable)
            bench.clock.advance(by: .seconds(86_399))
            try await bench.expectUser(header, "alice")
            #expect(try await eventually { source.problem()?.contains("for 24 h at most") == true })
            bench.clock.advance(by: .seconds(1))
            try await bench.expectRefusal(header, .unavailable)
            #expect(source.problem()?.contains("no keys are trusted") == true)
            server.set(jwks(key.jwk(#""kid":"a""#)))
            bench.clock.advance(by: .seconds(10))
            try await bench.expectUser(header, "alice")
            #expect(source.problem() == nil)
        }
    }

    @Test func `A reload fetches the keys`() async throws {
        let (old, new) = (TestKey.es256(), TestKey.es256())
        let server = KeyServer(jwks(old.jwk(#""kid":"old""#)))
        try await withBench(server) { bench in
            let source = try #require(bench.authenticator.sources.first)
            let header = try token(old, "old")
            try await bench.expectUser(header, "alice")
            server.set(jwks(new.jwk(#""kid":"new""#)))
            try await source.reload()
            try await bench.expectRefusal(header, .invalid)
            server.set("", status: .serviceUnavailable)
            await #expect(throws: SetupError.self) { try await source.reload() }
        }
    }

    @Test func `No keys at all is unavailable until they come`() async throws {
        let key = TestKey.es256()
        let server = KeyServer("")
        server.set("", status: .serviceUnavailable)
        try await withBench(server) { bench in
            let error = await bench.refusal(try token(key, "a"))
            #expect(error?.code == .unavailable)
            #expect(error?.challenges == [])
            try await bench.expectRefusal(token(key, "a"), .unavailable)
            #expect(server.requestCount == 1)
            server.set(jwks(key.jwk(#""kid":"a""#)))
            bench.clock.advance(by: .seconds(1))
            try await bench.expectUser(token(key, "a"), "alice")
        }
    }

    @Test func `Redirects are not followed`() async throws {
        let key = TestKey.es256()
        let good = KeyServer(jwks(key.jwk()))
        let server = KeyServer("")
        try await good.withURL { url in
            server.answer.withLock { $0 = .init(status: .found, location: url) }
            try await withBench(server) { bench in
                try await bench.expectRefusal("Bearer \(key.token(claims: claims()))", .unavailable)
            }
        }
        #expect(good.requestCount == 0)
    }

    @Test func `A slow body is not waited for without end`() async throws {
        let server = KeyServer(jwks(TestKey.es256().jwk()))
        try await server.withURL { url in
            let keySet = try KeySetURL(url)
            _ = try await keySet.fetch()
            server.answer.withLock { $0.isSlow = true }
            let error = await #expect(throws: SetupError.self) {
                _ = try await keySet.fetch(within: .milliseconds(500))
            }
            #expect(error?.description.contains("no complete response") == true)
        }
    }

    @Test func `Too large an answer is refused`() async throws {
        let key = TestKey.es256()
        let server = KeyServer(jwks(key.jwk()) + String(repeating: " ", count: 600_000))
        try await withBench(server) { bench in
            try await bench.expectRefusal("Bearer \(key.token(claims: claims()))", .unavailable)
        }
    }
}

struct KeySetURLTests {
    @Test(arguments: ["https://id.example/keys", "http://127.0.0.1:80/k", "http://localhost/k", "http://[::1]:1/k"])
    func `HTTPS, and HTTP to this machine, are taken`(url: String) throws { _ = try KeySetURL(url) }

    @Test(arguments: [
        "", "keys.json", "http://id.example/keys", "file:///etc/keys", "ftp://127.0.0.1/", "https://",
        "http://127.0.0.1.x/", "https://id.example:0/k", "https://127.0.0.1:65536/k", "https://[::1]:99999/k",
        "http://127.evil.0.1/", "http://localhost.evil/k", "http://127.0.0.1@evil.example/k",
    ])
    func `Other URLs are refused`(url: String) {
        #expect(throws: SetupError.self) { try KeySetURL(url) }
    }

    @Test func `HTTP to another machine is taken where it is allowed`() throws {
        _ = try KeySetURL("http://id.example/keys", isInsecureAllowed: true)
        #expect(throws: SetupError.self) { try KeySetURL("ftp://id.example/", isInsecureAllowed: true) }
    }

    /// Finding 14: the client offered TLS 1.0 and 1.1.
    @Test func `No TLS below 1.2 is offered`() async throws {
        let hello = try await ClientHello.capture { port in
            _ = try? await KeySetURL("https://127.0.0.1:\(port)/keys").fetch()
        }
        #expect(hello.versions == [0x0304, 0x0303])
    }
}

struct KeyFetchScheduleTests {
    @Test func `One fetch at a time`() {
        var schedule = KeyFetchSchedule()
        let start = ContinuousClock.now
        #expect(schedule.next(.missingKey, at: start) == .fetch)
        #expect(schedule.next(.missingKey, at: start + .seconds(100)) == .join)
        schedule.ended(successfully: true, at: start)
        #expect(schedule.next(.age, at: start + .seconds(239)) == .keep(hasFailed: false))
        #expect(schedule.next(.missingKey, at: start + .seconds(9)) == .keep(hasFailed: false))
        #expect(schedule.next(.missingKey, at: start + .seconds(10)) == .fetch)
    }

    @Test func `Failures are tried again sooner`() {
        var schedule = KeyFetchSchedule()
        let start = ContinuousClock.now
        #expect(schedule.next(.missingKey, at: start) == .fetch)
        schedule.ended(successfully: false, at: start)
        #expect(schedule.next(.missingKey, at: start + .milliseconds(999)) == .keep(hasFailed: true))
        #expect(schedule.next(.missingKey, at: start + .seconds(1)) == .fetch)
        schedule.ended(successfully: true, at: start + .seconds(1))
        #expect(schedule.next(.age, at: start + .seconds(301)) == .fetch)
        schedule.ended(successfully: false, at: start + .seconds(301))
        #expect(schedule.next(.age, at: start + .seconds(310)) == .keep(hasFailed: true))
        #expect(schedule.next(.age, at: start + .seconds(311)) == .fetch)
    }

    /// Old keys wait for a fetch, and after one that failed only if there was none for a while.
    @Test func `Old keys are used only shortly after a failure`() {
        var schedule = KeyFetchSchedule()
        let start = ContinuousClock.now
        schedule.ended(successfully: true, at: start)
        #expect(!schedule.areOld(start, at: start + .seconds(299)))
        #expect(schedule.areOld(start, at: start + .seconds(300)))
        schedule.ended(successfully: false, at: start + .seconds(301))
        #expect(!schedule.areOld(start, at: start + .seconds(330)))
        #expect(schedule.areOld(start, at: start + .seconds(331)))
        schedule.ended(successfully: true, at: start + .seconds(400))
        #expect(!schedule.areOld(start + .seconds(400), at: start + .seconds(699)))
    }
}
