import Foundation
import NIOSSL
import StackKit

/// A certificate for `hub.test`, signed with its own key.
struct HubCertificate {
    let folder: URL

    var path: String { folder.appending(path: "hub.pem").path }

    /// The server's side.
    func context() throws -> NIOSSLContext {
        let key = folder.appending(path: "hub-key.pem").path
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))))
    }

    static func with<Value>(_ body: (HubCertificate) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run(
            "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-days", "2", "-subj", "/CN=hub.test", "-addext",
                "subjectAltName=DNS:hub.test", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", folder.appending(path: "hub-key.pem").path, "-out", folder.appending(path: "hub.pem").path,
            ])
        return try await body(HubCertificate(folder: folder))
    }
}
