import Foundation
import ServiceRuntime
import StackKit
import TestSupport

/// A client that is not ours, for what a library would hide.
enum Curl {
    /// Head and body of the answer.
    static func get(_ url: URL, _ options: String...) async throws -> String {
        try await run("curl", ["-sik", "--max-time", "180"] + options + [url.absoluteString])
    }

    /// What `openssl` prints.
    static func openssl(_ arguments: String...) async throws -> String { try await run("openssl", arguments) }
}

/// Runs the body with a new self-signed certificate for `localhost`.
///
/// - Parameter key: the kind of its key, for `openssl req`.
func withCertificate<Result>(
    key kind: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
    _ body: (HTTPConfiguration.TLS) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolderURL { folder in
        let certificate = folder.appending(path: "certificate.pem").path
        let key = folder.appending(path: "key.pem").path
        try await run(
            "openssl",
            ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
                + ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate, "-newkey"] + kind)
        return try await body(HTTPConfiguration.TLS(certificateFile: certificate, privateKeyFile: key))
    }
}
