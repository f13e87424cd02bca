import Foundation
import TestSupport
import Testing

@testable import SecurePushCLI

/// Ingest and retrieval as processes of their own, on one SQLite file and without a broker, with the keys and users
/// that `securepush setup` makes. With a certificate they serve HTTPS, which the command line does not trust by itself.
struct LocalServices {
    let folder: String
    let setup: LocalSetup
    /// What the command line needs to reach them.
    let environment: [String: String]

    func run(_ arguments: String..., with more: [String: String] = [:]) async throws -> CommandLineRun {
        try await CommandLineRun(
            arguments, environment.merging(more) { _, other in other }, in: folder)
    }

    static func with(
        certificate: LocalCertificate? = nil, _ body: (LocalServices) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:1/")
            _ = try setup.run()
            var settings = [
                "HTTP_PORT": "0", "LOG_FORMAT": "json", "DATABASE_URL": "sqlite:\(folder)/data.sqlite",
                "PAYLOAD_KEYS_FILE": setup.payloadKeys, "INGEST_API_KEYS_FILE": setup.apiKeys,
                "AUTH_USERS_FILE": setup.usersFile, "AUTH_JWKS_FILE": setup.jwks,
                "AUTH_TOKEN_SIGNING_KEY_FILE": setup.signingKey, "AUTH_REFRESH_TTL": "1h",
                "AMQP_URL": "amqp://127.0.0.1:1",
            ]
            settings["TLS_CERTIFICATE_FILE"] = certificate?.certificateFile
            settings["TLS_PRIVATE_KEY_FILE"] = certificate?.keyFile
            let scheme = certificate == nil ? "http" : "https"
            let place = URL(filePath: folder)
            let ingest = try ProcessUnderTest("ingest", environment: settings, folder: place)
            defer { ingest.kill() }
            let ingestPort = try await ingest.port()
            let retrieval = try ProcessUnderTest("retrieval", environment: settings, folder: place)
            defer { retrieval.kill() }
            let environment = [
                "INGEST_URL": "\(scheme)://127.0.0.1:\(ingestPort)",
                "INGEST_API_KEY": try SecretFile.read(setup.apiKey),
                "RETRIEVAL_URL": "\(scheme)://127.0.0.1:\(try await retrieval.port())",
            ]
            try await body(LocalServices(folder: folder, setup: setup, environment: environment))
        }
    }
}
