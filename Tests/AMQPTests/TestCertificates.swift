import Foundation
import StackKit
import TestSupport

/// A certificate authority of the test's own, a server certificate for `localhost` by it, and another authority.
struct TestCertificates {
    let folder: URL

    func path(_ name: String) -> String { folder.appending(path: name).path }

    static func with<Value>(_ body: (TestCertificates) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificates = TestCertificates(folder: folder)
        try await certificates.makeAuthority("ca")
        try await certificates.makeAuthority("other")
        try await certificates.makeServer()
        return try await body(certificates)
    }

    private func makeAuthority(_ name: String) async throws {
        try await openssl(
            ["req", "-x509", "-days", "2", "-subj", "/CN=\(name)", "-addext", "basicConstraints=critical,CA:TRUE"]
                + key("\(name)-key.pem") + ["-out", path("\(name).pem")])
    }

    private func makeServer() async throws {
        try await openssl(["req", "-subj", "/CN=localhost", "-out", path("request.pem")] + key("server-key.pem"))
        try Data("subjectAltName=DNS:localhost\n".utf8).write(to: folder.appending(path: "names.txt"))
        try await openssl([
            "x509", "-req", "-days", "2", "-in", path("request.pem"), "-CA", path("ca.pem"), "-CAkey",
            path("ca-key.pem"), "-CAcreateserial", "-extfile", path("names.txt"), "-out", path("server.pem"),
        ])
    }

    private func key(_ name: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path(name)]
    }

    private func openssl(_ arguments: [String]) async throws {
        try await run("/usr/bin/env", ["openssl"] + arguments)
    }
}
