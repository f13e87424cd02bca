import Foundation
import ServiceRuntime
import StackKit

/// Runs a program and gives what it printed.
private func run(_ program: String, _ arguments: [String]) async throws -> String {
    struct Failed: Error { let arguments: [String], status: Int32 }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    let (ended, end) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { end.yield($0.terminationStatus) }
    try process.run()
    // Read first: a program whose pipe is full does not end.
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    for await status in ended {
        guard status == 0 else { throw Failed(arguments: arguments, status: status) }
        break
    }
    return text
}

/// A client that is not ours, for what a library would hide.
enum Curl {
    /// Head and body of the answer.
    static func get(_ url: URL, _ options: String...) async throws -> String {
        try await run("curl", ["-sik", "--max-time", "60"] + options + [url.absoluteString])
    }

    /// What `openssl` prints.
    static func openssl(_ arguments: String...) async throws -> String { try await run("openssl", arguments) }
}

/// Runs the body with a new self-signed certificate for `localhost`.
func withCertificate<Result>(_ body: (HTTPConfiguration.TLS) async throws -> Result) async throws -> Result {
    try await withTemporaryFolder { folder in
        let certificate = folder.appending(path: "certificate.pem").path
        let key = folder.appending(path: "key.pem").path
        _ = try await run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
            ])
        return try await body(HTTPConfiguration.TLS(certificateFile: certificate, privateKeyFile: key))
    }
}
