import Crypto
import Domain
import Foundation
import Foundations
import TestSupport
import Testing

@Suite("Settings that cannot be used")
struct ConfigurationRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let service: String
        /// What differs from good settings; empty takes a setting away.
        let settings: [String: String]
        /// One line names each.
        let keys: [String]

        init(_ service: String, _ settings: [String: String], _ keys: String...) {
            self.service = service
            self.settings = settings
            self.keys = keys
        }

        var testDescription: String { "\(service): \(keys.joined(separator: ", "))" }
    }

    private static let secret = "s3cretvalue"
    private static let hub = "Endpoint=http://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=\(secret)"

    static let cases: [Case] = [
        Case("ingest", ["HTTP_PORT": "abc"], "HTTP_PORT"),
        Case("ingest", ["HUB_PLATFORMS": "nokia"], "HUB_PLATFORMS"),
        Case("dispatcher", ["HUB_PLATFORMS": "apple,Apple"], "HUB_PLATFORMS"),
        Case("ingest", ["DATABASE_URL": "mysql://u:\(secret)@h/d"], "DATABASE_URL"),
        Case("ingest", ["AMQP_URL": "http://u:\(secret)@h/"], "AMQP_URL"),
        Case("ingest", ["AMQP_URL": "amqp://u:\(secret)@h:port/"], "AMQP_URL"),
        Case("ingest", ["AMQP_URL": "", "AMQP_URL_FILE": "garbage"], "AMQP_URL_FILE"),
        Case("ingest", ["AMQP_URL": "'amqp://u:\(secret)@h/'"], "AMQP_URL"),
        Case("ingest", ["DATABASE_URL": "", "DATABASE_URL_FILE": "garbage"], "DATABASE_URL_FILE"),
        Case("ingest", ["DATABASE_URL": "DATABASE_URL=postgres://u:\(secret)@h/d"], "DATABASE_URL"),
        Case("ingest", ["RETRY_DELAYS": "1s,,5s"], "RETRY_DELAYS"),
        Case("ingest", ["DATABASE_URL": "sqlite:/x/\(secret)\n/s.sqlite"], "DATABASE_URL"),
        Case("dispatcher", ["AMQP_URL": "amqp://u:\(secret)\r@h/"], "AMQP_URL"),
        Case("ingest", ["AMQP_URL": "amqp://u:12/\(secret)@h/"], "AMQP_URL"),
        Case("ingest", ["AMQP_URL": "amqp://u:p?\(secret)@h/"], "AMQP_URL"),
        Case("retrieval", ["DATABASE_URL": "postgres://u:p@\(secret)@h/d?sslmode=verify-full"], "DATABASE_URL"),
        Case("retrieval", ["DATABASE_URL": "postgres://u:12/\(secret)@h/d?sslmode=verify-full"], "DATABASE_URL"),
        Case("retrieval", ["AUTH_JWKS_URL": "http://u:\(secret)@idp.example/?sig=\(secret)"], "AUTH_JWKS_URL"),
        Case("ingest", ["DATABASE_MIGRATE": "perhaps"], "DATABASE_MIGRATE"),
        Case("ingest", ["PAYLOAD_KEYS_FILE": ""], "PAYLOAD_KEYS_FILE"),
        Case(
            "ingest", ["PAYLOAD_KEYS_FILE": "none", "INGEST_API_KEYS_FILE": "none"], "PAYLOAD_KEYS_FILE",
            "INGEST_API_KEYS_FILE"),
        Case("ingest", ["PAYLOAD_KEYS_FILE": "garbage"], "PAYLOAD_KEYS_FILE"),
        Case("ingest", ["INGEST_API_KEYS_FILE": "garbage"], "INGEST_API_KEYS_FILE"),
        Case("ingest", ["RATE_LIMIT_USER": "30/minute"], "RATE_LIMIT_USER"),
        Case("ingest", ["AUTH_USERS_FILE": "garbage"], "AUTH_USERS_FILE"),
        Case("ingest", ["AUTH_JWKS_URL": "http://keys.example.com/"], "AUTH_JWKS_URL"),
        Case("ingest", ["TLS_CERTIFICATE_FILE": "garbage"], "TLS_PRIVATE_KEY_FILE"),
        Case("ingest", ["HTTP_PORT": "-1", "RETENTION": "1y", "AMQP_URL": "no"], "HTTP_PORT", "RETENTION", "AMQP_URL"),
        Case("ingest", ["AMQP_URL": "amqp://u:\(secret)@rabbit.example/"], "AMQP_URL"),
        Case("dispatcher", ["AMQP_URL": "amqps://u:\(secret)@rabbit.example/?verify=verify_none"], "AMQP_URL"),
        Case("retrieval", ["DATABASE_URL": "postgres://u:\(secret)@db.example/d?sslmode=require"], "DATABASE_URL"),
        Case("ingest", ["HTTP_HOST": "0.0.0.0", "ALLOW_INSECURE": "amqp,postgres,jwks"], "HTTP_HOST"),
        Case("retrieval", ["PAYLOAD_KEYS_FILE": ""], "PAYLOAD_KEYS_FILE"),
        Case("retrieval", ["AUTH_JWKS_URL": ""], "AUTH_JWKS_FILE"),
        Case("retrieval", ["AUTH_JWKS_FILE": "garbage", "AUTH_JWKS_URL": ""], "AUTH_JWKS_FILE"),
        Case("retrieval", ["AUTH_TOKEN_SIGNING_KEY_FILE": "garbage"], "AUTH_TOKEN_SIGNING_KEY_FILE"),
        Case("retrieval", ["AUTH_TOKEN_TTL": "0s"], "AUTH_TOKEN_TTL"),
        Case("retrieval", ["AUTH_REFRESH_TTL": "1h"], "AUTH_REFRESH_TTL"),
        Case("retrieval", ["DEVICE_STALE_AFTER": "0s"], "DEVICE_STALE_AFTER"),
        Case("retrieval", ["HUB_TELEMETRY": "perhaps"], "HUB_TELEMETRY"),
        Case("retrieval", ["HUB_NAME": ""], "HUB_NAME"),
        Case("dispatcher", ["HUB_CONNECTION_STRING": "", "HUB_NAME": ""], "HUB_CONNECTION_STRING", "HUB_NAME"),
        Case(
            "dispatcher", ["HUB_CONNECTION_STRING": hub.replacing("127.0.0.1:1", with: "hub.example.com")],
            "HUB_CONNECTION_STRING"),
        Case("dispatcher", ["HUB_CONNECTION_STRING": "SharedAccessKey=\(secret)"], "HUB_CONNECTION_STRING"),
        Case("dispatcher", ["HUB_CONNECTION_STRING_FILE": "garbage"], "HUB_CONNECTION_STRING"),
        Case(
            "dispatcher", ["HUB_CONNECTION_STRING": "", "HUB_CONNECTION_STRING_FILE": "garbage"],
            "HUB_CONNECTION_STRING_FILE"),
        Case("dispatcher", ["HUB_CONNECTION_STRING": "\"\(hub)\""], "HUB_CONNECTION_STRING"),
        Case("dispatcher", ["HUB_CONNECTION_STRING": hub + ";EntityPath=other"], "HUB_CONNECTION_STRING"),
        Case("dispatcher", ["DISPATCH_PREFETCH": "0"], "DISPATCH_PREFETCH"),
        Case(
            "dispatcher", ["DISPATCH_CONCURRENCY": "many", "DISPATCH_MAX_ATTEMPTS": "0"], "DISPATCH_CONCURRENCY",
            "DISPATCH_MAX_ATTEMPTS"),
    ]

    @Test(arguments: cases)
    func `Each mistake is one line and the exit code is 78`(_ wrong: Case) async throws {
        try await withFolder { folder in
            let process = try ProcessUnderTest(
                wrong.service, environment: Self.good.merging(wrong.settings) { _, new in new }, folder: folder)
            defer { process.kill() }
            #expect(try await process.exitCode() == 78)
            // A setting that names an unusable file is refused after the log line of the start.
            let lines = process.standardError.split(separator: "\n").filter { !$0.contains(#""body":"Starting""#) }
            let keys = lines.map { $0.split(separator: ":")[1].drop { $0 == " " } }
            #expect(keys.map(String.init).sorted() == wrong.keys.sorted(), "\(lines)")
            #expect(lines.allSatisfy { $0.hasPrefix("error: ") })
            #expect(!process.standardError.contains(Self.secret))
            #expect(process.standardOutput.isEmpty)
        }
    }

    /// With these each service starts.
    private static let good = [
        "DATABASE_URL": "memory:", "AMQP_URL": "amqp://guest:guest@127.0.0.1:1/", "HTTP_PORT": "0",
        "PAYLOAD_KEYS_FILE": "payload-keys", "INGEST_API_KEYS_FILE": "api-keys",
        "AUTH_JWKS_URL": "https://127.0.0.1:1/keys",
        "HUB_CONNECTION_STRING": hub, "HUB_NAME": "hub",
    ]

    @Test(arguments: ["ingest", "retrieval", "dispatcher"])
    func `An unknown flag is 64`(_ service: String) async throws {
        try await withFolder { folder in
            for arguments in [["--no-such-flag", "1"], ["--http-port"], ["surplus"]] {
                let process = try ProcessUnderTest(service, arguments, environment: Self.good, folder: folder)
                #expect(try await process.exitCode() == 64, "\(arguments)")
                #expect(process.standardError.contains(arguments[0]))
            }
        }
    }

    /// The contract's table: what each service uses.
    @Test(arguments: [
        ("ingest", ["PAYLOAD_KEYS_FILE", "INGEST_API_KEYS_FILE", "AMQP_URL", "RETENTION", "AUTH_JWKS_URL"]),
        ("retrieval", ["PAYLOAD_KEYS_FILE", "HUB_CONNECTION_STRING_FILE", "AUTH_TOKEN_SIGNING_KEY_FILE"]),
        ("dispatcher", ["AMQP_URL", "RETRY_DELAYS", "DISPATCH_MAX_ATTEMPTS", "HUB_NAME", "HUB_PLATFORMS"]),
    ])
    func `Help names every key`(_ service: String, _ own: [String]) async throws {
        let all = ["HTTP_HOST", "HTTP_PORT", "TLS_CERTIFICATE_FILE", "LOG_LEVEL", "DATABASE_URL", "DATABASE_MIGRATE"]
        try await withFolder { folder in
            let process = try ProcessUnderTest(service, ["--help"], folder: folder)
            #expect(try await process.exitCode() == 0)
            for key in all + own {
                let flag = "--" + key.lowercased().replacing("_", with: "-") + " "
                #expect(process.standardOutput.contains(flag), "\(key)")
                #expect(process.standardOutput.contains(key + ":"), "\(key)")
            }
        }
    }

    /// A folder with files of keys, and one that holds nothing of use.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let hash = SHA256.hash(data: Data("key".utf8)).hex
        for (name, text) in [
            ("payload-keys", PayloadKeyRing.newLine()), ("api-keys", "clinic \(hash)"), ("garbage", Self.secret),
        ] {
            try Data((text + "\n").utf8).write(to: folder.appending(path: name))
        }
        try await body(folder)
    }
}
