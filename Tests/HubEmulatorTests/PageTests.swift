import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import HubEmulator

@Suite struct PageTests {
    @Test func `The page allows only itself`() async throws {
        try await withEmulator { emulator in
            let page = try await emulator.call(.get, "/", authorization: nil)
            #expect(page.status == .ok)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.contains("default-src 'none'"))
            #expect(policy.contains("connect-src 'self'"))
            #expect(!policy.contains("unsafe"))
            #expect(policy.occurrences(of: "'sha256-") == 2)
        }
    }

    @Test func `The page loads nothing and sets no markup`() {
        let page = String(decoding: PageController.page, as: UTF8.self)
        let markup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=", "onclick="]
        for forbidden in markup {
            #expect(!page.contains(forbidden), "\(forbidden)")
        }
        #expect(!page.contains("/* script.js */") && !page.contains("/* style.css */"))
        #expect(page.matches(of: /(src|href)="https?:/).isEmpty)
        #expect(page.occurrences(of: "<script>") == 1)
        #expect(page.occurrences(of: "<style>") == 1)
    }

    @Test func `The icon needs no token`() async throws {
        try await withEmulator { emulator in
            let icon = try await emulator.call(.get, "/favicon.ico", authorization: nil)
            #expect(icon.status == .noContent && icon.headers[.cacheControl] != nil)
        }
    }

    @Test func `Other origins may not use the API`() async throws {
        try await withEmulator { emulator in
            let foreign = try await emulator.call(
                .post, "/emulator/faults", headers: [.origin: "https://evil.test"], body: #"{"Status":500}"#,
                authorization: nil)
            #expect(foreign.status == .forbidden)
            let own = try await emulator.call(
                .post, "/emulator/faults", headers: [.origin: "http://localhost"], body: #"{"Status":500}"#,
                authorization: nil)
            #expect(own.status == .created)
        }
    }

    @Test(arguments: ["/livez", "/readyz", "/metrics", "/version"]) func `Operations answer`(_ path: String)
        async throws
    {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, path, authorization: nil)
            #expect(response.status == .ok)
        }
    }

    @Test func `Unknown paths are 404`() async throws {
        try await withEmulator { emulator in
            for path in ["/hub/nothing", "/emulator/nothing"] {
                let response = try await emulator.call(.get, path)
                #expect(response.status == .notFound)
            }
        }
    }
}
