import Foundation
import NIOSSL
import OutgoingHTTP
import StackKit

/// A certificate for some names, signed with its own key.
struct PushCertificate: Sendable {
    let folder: URL

    var path: String { folder.appending(path: "push.pem").path }
    var authorities: TrustedAuthorities { TrustedAuthorities(file: path) }

    /// The server's side.
    func context(_ protocols: [String]) throws -> NIOSSLContext {
        let key = folder.appending(path: "push-key.pem").path
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }

    static func with<Value>(
        _ names: String = "DNS:push.test,DNS:other.test,IP:127.0.0.1",
        _ body: (PushCertificate) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run(
            "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-days", "2", "-subj", "/CN=push", "-addext", "subjectAltName=\(names)",
                "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", folder.appending(path: "push-key.pem").path,
                "-out", folder.appending(path: "push.pem").path,
            ])
        return try await body(PushCertificate(folder: folder))
    }
}
