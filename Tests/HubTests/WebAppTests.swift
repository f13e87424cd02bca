import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

/// `EMULATOR_WEB_APP`: the files of a web app at `/emulator/app/`.
@Suite struct WebAppTests {
    private func withApp(_ test: @escaping @Sendable (Emulator) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("web-app-\(UUID().uuidString)")
        let inner = folder.appendingPathComponent("public/lib")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = [
            "secret.txt": "secret", "public/index.html": "<title>app</title>", "public/sw.js": "1",
            "public/.hidden": "2",
            "public/lib/Upper.js": "3",
            "public/_headers": "/*\n  Content-Security-Policy: default-src 'none'\n/x\n  A: b",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        try await withEmulator(webAppFolder: folder.appendingPathComponent("public").path, test)
    }

    @Test func `The files are served with the headers of the folder`() async throws {
        try await withApp { emulator in
            let page = try await emulator.call(.get, "/emulator/app/", authorization: nil)
            #expect(page.status == .ok)
            #expect(page.text == "<title>app</title>")
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentSecurityPolicy] == "default-src 'none'")
            #expect(page.headers[.xContentTypeOptions] == "nosniff")
            let worker = try await emulator.call(.get, "/emulator/app/sw.js", authorization: nil)
            #expect(worker.headers[.contentType] == "text/javascript; charset=utf-8")
            let module = try await emulator.call(.get, "/emulator/app/lib/Upper.js", authorization: nil)
            #expect(module.text == "3")
        }
    }

    @Test func `The address without a slash leads to the page`() async throws {
        try await withApp { emulator in
            let response = try await emulator.call(.get, "/emulator/app", authorization: nil)
            #expect(response.status == .permanentRedirect)
            #expect(response.headers[.location] == "/emulator/app/")
        }
    }

    @Test(
        arguments: [
            "../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", ".hidden", "_headers", "lib", "lib/", "//sw.js",
            "x",
        ] as [String])
    func `Nothing else is served`(_ path: String) async throws {
        try await withApp { emulator in
            let response = try await emulator.call(.get, "/emulator/app/\(path)", authorization: nil)
            #expect(response.status == .notFound)
            #expect(!response.text.contains("secret.txt"))
        }
    }

    @Test func `Pages of other hosts do not reach it`() async throws {
        try await withApp { emulator in
            let foreign = try await emulator.call(
                .get, "/emulator/app/", headers: [.origin: "https://evil.test"], authorization: nil)
            #expect(foreign.status == .forbidden)
        }
    }

    @Test func `Without a folder there is no app`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, "/emulator/app/", authorization: nil)
            #expect(response.status == .notFound)
        }
    }
}
