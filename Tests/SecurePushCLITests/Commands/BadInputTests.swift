import Domain
import Testing

@testable import SecurePushCLI

/// Command line → exit code and what is said, with nothing in the environment but what the row gives.
@Suite(.timeLimit(.minutes(3))) struct BadInputTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var code: Int32
        var message: String
        var environment: [String: String] = [:]

        init(_ line: String, _ code: Int32, _ message: String, _ environment: [String: String] = [:]) {
            arguments = line.split(separator: " ").map(String.init)
            (self.code, self.message, self.environment) = (code, message, environment)
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let id = NotificationID().description
    private static let key = ["INGEST_API_KEY": "k"]
    private static let nowhere = ["INGEST_API_KEY": "k", "INGEST_URL": "http://127.0.0.1:1", "RETRIEVAL_TOKEN": "t"]
        .merging(["RETRIEVAL_URL": "http://127.0.0.1:1", "AMQP_URL": "amqp://127.0.0.1:1"]) { $1 }

    static let notifications: [Row] = [
        Row("status", 64, "id"), Row("status nonsense", 64, "<id>"), Row("status \(id)", 78, "API key"),
        Row("status \(id)", 69, "does not answer", nowhere), Row("status \(id) --loud", 64, "--loud"),
        Row("status \(id) --ingest-url ftp://x", 64, "not a URL", key),
        Row("list --ingest-url http://127.0.0.1:65536", 64, "--ingest-url: ", key),
        Row("status \(id) --api-key-file /nowhere", 78, "/nowhere"),
        Row("revoke", 64, "ids"), Row("revoke \(id) x", 64, "<ids>"), Row("revoke \(id)", 78, "API key"),
        Row("revoke \(id)", 69, "does not answer", nowhere),
        Row("list --limit 0", 64, "--limit"), Row("list --limit 201", 64, "--limit"),
        Row("list --status lost", 64, "--status"), Row("list --before x", 64, "--before"), Row("list", 78, "API key"),
        Row("list", 69, "does not answer", nowhere), Row("list extra", 64, "nexpected argument"),
        Row("inbox", 64, "--user"), Row("inbox --user alice", 78, "credentials"),
        Row("inbox --user alice --limit many", 64, "--limit"), Row("inbox --user alice --limit 999", 64, "--limit"),
        Row("inbox --user alice --password-file a --token-file b", 64, "not both"),
        Row("inbox --user alice --token-file /nowhere", 78, "/nowhere"),
        Row("inbox --user alice", 69, "does not answer", nowhere),
    ]

    static let operations: [Row] = [
        Row("dead-letters list --limit 0", 64, "--limit"), Row("dead-letters list", 69, "broker", nowhere),
        Row("dead-letters list", 78, "AMQP_URL", ["AMQP_URL": "http://x"]),
        Row("dead-letters list", 78, "RETRY_DELAYS", ["RETRY_DELAYS": "x"]),
        Row("dead-letters show", 64, "id"), Row("dead-letters show \(id)", 69, "broker", nowhere),
        Row("dead-letters replay", 64, "--all"), Row("dead-letters replay \(id) --all", 64, "--all"),
        Row("dead-letters replay \(id) --reason x", 64, "--all"),
        Row("dead-letters replay --all --unreadable", 64, "purge"),
        Row("dead-letters replay --all", 69, "no database", nowhere),
        Row("dead-letters replay --all --database-url mysql:x", 78, "database URL"),
        Row("dead-letters purge", 64, "--yes"), Row("dead-letters purge --yes", 69, "broker", nowhere),
        Row("keys rotate", 78, "PAYLOAD_KEYS_FILE"), Row("keys rotate --keep 1", 64, "--keep"),
        Row("keys rotate --no-new-key", 64, "--no-new-key"),
        Row("keys rotate --payload-keys-file /nowhere/k", 78, "/nowhere/k"),
        Row("config show --service mail", 64, "--service"), Row("config show", 0, ""),
        Row("config show", 78, "HTTP_PORT: ", ["HTTP_PORT": "x"]),
        Row("config show --service ingest", 78, "PAYLOAD_KEYS_FILE: "),
        Row("doctor", 78, "no settings"), Row("migrate --database-url mysql:x", 78, "database URL"),
        Row("migrate --database-url 'sqlite:x'", 64, "--database-url is in quotation marks"),
        Row("top --ingest-url x", 64, "--ingest-url: "), Row("top --dispatcher x", 64, "--dispatcher: "),
        Row("top", 64, "DISPATCHER_URL: ", ["DISPATCHER_URL": "http://127.0.0.1:1, x"]),
        Row("tail --window 0", 64, "--window"), Row("load-test --count 0", 64, "--count"),
        Row("users list", 78, "AUTH_USERS_FILE"), Row("api-keys list", 78, "INGEST_API_KEYS_FILE"),
        Row("users list --users-file /nowhere", 78, "--users-file: "),
        Row("users list", 78, "AUTH_USERS_FILE: ", ["AUTH_USERS_FILE": "/nowhere"]),
        Row("api-keys list --api-keys-file /nowhere", 78, "--api-keys-file: "),
        Row("keys list", 78, "PAYLOAD_KEYS_FILE: ", ["PAYLOAD_KEYS_FILE": "/nowhere"]),
        Row("token --user alice --password-file /nowhere", 78, "/nowhere"), Row("nothing", 64, "nothing"),
        Row("token --user a --signing-key-file k --expires-in 0s", 64, "--expires-in"),
        Row(
            "token --user a --signing-key-file k --expires-in 5m --expires-at 2030-01-01T00:00:00Z", 64,
            "--expires-in"),
        Row("token --user a --signing-key-file k --password-file p", 64, "--password-file"),
        Row("token --user a --signing-key-file k --refresh-token-file r", 64, "--refresh-token-file"),
        Row("keys generate --push --payload-keys-file k", 64, "--push"),
        Row("keys generate --push --signing-key k", 64, "--signing-key"),
        Row("keys generate --push-signing-key-file k", 64, "--push"),
        Row("keys rotate --push --remove k", 64, "--push"), Row("keys rotate --push --no-new-key", 64, "--push"),
        Row("keys rotate --push --force", 64, "--push"), Row("keys rotate --push --keep 1", 64, "--keep"),
        Row("keys rotate --push-verification-keys-file k", 64, "--push"),
        Row("hubs rebalance --rate 0", 64, "--rate"), Row("hubs rebalance --rate 10001", 64, "--rate"),
        Row("hubs rebalance --rate x", 64, "--rate"),
        Row("--loud", 64, "--loud"),
    ]

    static let names: [Row] = [
        Row("status \(id)", 69, "does not answer", prefixed(nowhere)),
        Row("config show", 78, "HTTP_PORT and SECUREPUSH_HTTP_PORT", ["HTTP_PORT": "1", "SECUREPUSH_HTTP_PORT": "2"]),
        Row("list", 78, "INGEST_URL and SECUREPUSH_INGEST_URL", nowhere.merging(["SECUREPUSH_INGEST_URL": "x"]) { $1 }),
        Row("config show", 0, "is SECUREPUSH_RETENTION meant?", ["SECUREPUSH_RETENTON": "1d"]),
        Row("list", 78, "both set", ["INGEST_API_KEY": "k", "INGEST_API_KEY_FILE": "/nowhere"]),
        Row("list", 78, "/nowhere", ["INGEST_API_KEY_FILE": "/nowhere"]),
        Row("list", 78, "INGEST_API_KEY: is in quotation marks", ["INGEST_API_KEY": "'k'"]),
        Row("list", 78, "SECUREPUSH_RETENTION: begins with RETENTION=", ["SECUREPUSH_RETENTION": "RETENTION=1d"]),
        Row("inbox --user alice", 78, "/nowhere", ["RETRIEVAL_TOKEN_FILE": "/nowhere"]),
        Row("migrate", 78, "database URL", ["SECUREPUSH_DATABASE_URL": "mysql:x"]),
        Row("migrate", 78, "DATABASE_URL_FILE: /nowhere", ["DATABASE_URL_FILE": "/nowhere"]),
        Row("dead-letters list", 78, "AMQP_URL_FILE: /nowhere", ["AMQP_URL_FILE": "/nowhere"]),
        Row("list", 78, "INGEST_API_KEY_FILE: /nowhere", ["INGEST_API_KEY_FILE": "/nowhere"]),
        Row("token --user a --signing-key-file k", 78, "AUTH_USERS_FILE: ", ["AUTH_USERS_FILE": "/nowhere"]),
        Row("token --user a --signing-key-file /nowhere", 78, "--signing-key-file: "),
    ]

    private static func prefixed(_ environment: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: environment.map { ("SECUREPUSH_" + $0.key, $0.value) })
    }

    @Test(arguments: notifications + operations + names)
    func `Each mistake has its exit code and its words`(row: Row) async throws {
        let run = try await CommandLineRun(row.arguments, row.environment)
        #expect(run.code == row.code, "\(run.errors)")
        if !row.message.isEmpty { #expect(run.errors.contains(row.message), "\(run.errors)") }
        // Nothing is coloured or written over where there is no terminal.
        #expect(!(run.output + run.errors).contains("\u{1B}"))
    }
}
