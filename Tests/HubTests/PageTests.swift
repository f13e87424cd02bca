import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

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
        }
    }

    @Test func `Every file that the page names is served, with its type`() async throws {
        try await withEmulator { emulator in
            let page = try await emulator.call(.get, "/", authorization: nil)
            let named = /(?:href|src)="emulator\/page\/([a-z]+\.[a-z]+)"/
            var names = Set(page.text.matches(of: named).map { String($0.1) })
            #expect(names == ["style.css", "emulator.js"])
            for (name, content) in PageController.files {
                let file = try await emulator.call(.get, "/emulator/page/\(name)", authorization: nil)
                #expect(file.status == .ok)
                let type = name.hasSuffix(".css") ? "text/css" : "text/javascript"
                #expect(file.headers[.contentType] == "\(type); charset=utf-8")
                #expect(file.headers[.xContentTypeOptions] == "nosniff")
                #expect(Array(file.text.utf8) == content)
                names.formUnion(file.text.matches(of: /(?m)^(?:import|\}).*"\.\/([a-z]+\.js)";$/).map { "\($0.1)" })
            }
            #expect(names == Set(PageController.files.keys))
        }
    }

    @Test func `The page loads nothing from elsewhere and sets no markup`() async throws {
        try await withEmulator { emulator in
            let page = try await emulator.call(.get, "/", authorization: nil).text
            let files = PageController.files.values.map { String(decoding: $0, as: UTF8.self) }
            let markup = [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=", "onclick=\"",
            ]
            for text in files + [page] {
                for forbidden in markup { #expect(!text.contains(forbidden), "\(forbidden)") }
                #expect(text.matches(of: /(?:src|href|from|import|url\()[ ="]+https?:/).isEmpty)
            }
            #expect(!page.contains("<style") && page.occurrences(of: "<script") == 1)
        }
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
