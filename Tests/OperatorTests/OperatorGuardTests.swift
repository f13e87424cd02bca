import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Testing

@testable import Operator

@Suite("The operator's page: who may use it")
struct OperatorGuardTests {
    private static let replay = "/admin/api/dead-letters/replay"

    @Test func `Without the password nothing answers`() async throws {
        try await withOperator(hasPassword: true) { bench in
            for path in ["/", "/operator.js", "/dead-letters", "/admin/api/overview", "/nothing"] {
                let answer = try await bench.get(path)
                try answer.expectProblem(401)
                #expect(
                    answer.headers[.wwwAuthenticate] == #"Basic realm="securepush operator", charset="UTF-8""#)
            }
            // A script has a challenge that opens no dialogue of the browser.
            let script = try await bench.get("/admin/api/overview", headers: [.mode: "cors"])
            #expect(script.headers[.wwwAuthenticate]?.hasPrefix("x-Basic ") == true)
            for path in Operations.paths { #expect(try await bench.get(path).status == .ok, "\(path)") }
            try (await bench.post(Self.replay, #"{"All":true}"#)).expectProblem(401)
            let wrong = "Basic " + Data("admin:wrong".utf8).base64EncodedString()
            let other = "Basic " + Data("root:\(OperatorBench.password)".utf8).base64EncodedString()
            for authorization in [wrong, other, "Bearer x", "Basic !"] {
                try (await bench.get("/", headers: [.authorization: authorization])).expectProblem(401)
            }
            let answer = try await bench.get("/", headers: [.authorization: OperatorBench.credentials])
            #expect(answer.status == .ok)
        }
    }

    @Test func `Repeated failures are 429`() async throws {
        try await withOperator(hasPassword: true) { bench in
            var statuses: [Int] = []
            // The first wait is a second, which a busy machine may take for a check; each further one is twice as long.
            while statuses.last != 429, statuses.count < 20 {
                let wrong = "Basic " + Data("admin:wrong \(statuses.count)".utf8).base64EncodedString()
                let answer = try await bench.get("/", headers: [.authorization: wrong])
                statuses.append(answer.status.code)
                if answer.status == .tooManyRequests { #expect(answer.headers[.retryAfter] != nil) }
            }
            #expect(statuses.prefix(5) == [401, 401, 401, 401, 401])
            #expect(statuses.last == 429)
        }
    }

    @Test func `Pages of other sites cannot act`() async throws {
        try await withOperator { bench in
            let id = try await bench.stored()
            try await bench.record([OperatorBench.delivery(.apple, .dead, "413")], of: id)
            bench.queues.add(id, reason: "http_413", platforms: [.apple])
            let foreign: [HTTPFields] = [
                [.origin: "https://attacker.example"], [.origin: "null"], [.secFetchSite: "cross-site"],
                [.secFetchSite: "same-site", .origin: "http://localhost"], [.origin: "http://localhost:1"],
            ]
            for headers in foreign {
                try (await bench.post(Self.replay, #"{"All":true}"#, headers: headers)).expectProblem(403)
                let path = "/admin/api/notifications/\(id)/resend"
                try (await bench.post(path, "{}", headers: headers)).expectProblem(403)
                try (await bench.get("/admin/api/overview", headers: headers)).expectProblem(403)
            }
            #expect(try await bench.due().isEmpty)
            // A form of another site cannot send JSON.
            let form: HTTPFields = [.contentType: "text/plain"]
            try (await bench.post(Self.replay, #"{"All":true}"#, headers: form)).expectProblem(415)
            let own: HTTPFields = [.origin: "http://localhost", .secFetchSite: "same-origin"]
            let answer = try await bench.post(Self.replay, #"{"All":true}"#, headers: own)
            #expect(answer.status == .ok)
            #expect(try await bench.due().map(\.id) == [id])
        }
    }

    /// A reading of the dead letters holds them, and a look at a notification is on record.
    @Test func `Pages of other sites can only link`() async throws {
        try await withOperator { bench in
            let id = try await bench.stored()
            let link: HTTPFields = [.secFetchSite: "cross-site", .mode: "navigate", .destination: "document"]
            let others: [HTTPFields] = [
                [.secFetchSite: "cross-site"], [.origin: "https://attacker.example"],
                [.secFetchSite: "cross-site", .mode: "no-cors", .destination: "image"],
                [.secFetchSite: "same-site", .mode: "no-cors", .destination: "script"],
                [.secFetchSite: "cross-site", .mode: "cors", .destination: "empty"],
                [.secFetchSite: "cross-site", .mode: "navigate", .destination: "iframe"],
                [
                    .secFetchSite: "cross-site", .mode: "navigate", .destination: "document",
                    .purpose: "prefetch;prerender",
                ],
            ]
            for path in ["/", "/dead-letters", "/notifications/\(id)"] {
                for headers in others { try (await bench.get(path, headers: headers)).expectProblem(403) }
                for site in ["cross-site", "same-site", "same-origin", "none"] {
                    var headers = link
                    headers[.secFetchSite] = site
                    #expect(try await bench.get(path, headers: headers).status == .ok, "\(path) \(site)")
                }
                let own: HTTPFields = [.secFetchSite: "same-origin", .mode: "cors", .destination: "empty"]
                #expect(try await bench.get(path, headers: own).status == .ok, "\(path)")
            }
            // Another spelling of a path has the same rule.
            try (await bench.get("/dead-letters/", headers: others[2])).expectProblem(403)
            for path in ["/admin/api/dead-letters", "/admin/api/failures", "/admin/api/notifications/\(id)"] {
                for headers in others + [link] { try (await bench.get(path, headers: headers)).expectProblem(403) }
            }
        }
    }

    /// The attack: a page's own name points to this machine (DNS rebinding), so its requests are of the same origin.
    @Test func `A rebound name reaches nothing`() async throws {
        try await withOperator(allowedHosts: ["ops.test"]) { bench in
            for (host, status) in [("attacker.example", 403), ("ops.test", 200), ("127.0.0.1:9", 200), ("[::1]", 200)] {
                for path in ["/", "/admin/api/overview"] {
                    try await RawConnection.with(port: bench.client.port) { connection in
                        let fields = "Host: \(host)\r\nOrigin: http://\(host)\r\nConnection: close\r\n\r\n"
                        try await connection.write("GET \(path) HTTP/1.1\r\n\(fields)")
                        let head = try await connection.read(until: "\r\n")
                        #expect(head.hasPrefix("HTTP/1.1 \(status)"), "\(host) \(path): \(head)")
                    }
                }
            }
        }
    }

    @Test func `Every answer is strict`() async throws {
        try await withOperator { bench in
            for path in ["/", "/operator.css", "/operator.js", "/dead-letters", "/admin/api/failures", "/nothing"] {
                let answer = try await bench.get(path)
                #expect(answer.status == (path == "/nothing" ? .notFound : .ok), "\(path)")
                #expect(answer.headers[.cacheControl] == "no-store", "\(path)")
                let policy = answer.headers[.contentSecurityPolicy] ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
            }
        }
    }
}

extension HTTPField.Name {
    fileprivate static let mode = HTTPField.Name(static: "sec-fetch-mode")
    fileprivate static let destination = HTTPField.Name(static: "sec-fetch-dest")
    fileprivate static let purpose = HTTPField.Name(static: "sec-purpose")
}
