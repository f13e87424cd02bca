import Domain
import Logging
import ServiceRuntime
import Testing

@testable import ServiceConfiguration

@Suite("The table of settings")
struct ConfigurationKeysTests {
    /// The keys of the contract's table.
    private static let contract = [
        "HTTP_HOST", "HTTP_PORT", "TLS_CERTIFICATE_FILE", "TLS_PRIVATE_KEY_FILE", "LOG_LEVEL", "LOG_FORMAT",
        "DATABASE_URL", "AMQP_URL", "PAYLOAD_KEYS_FILE", "HUB_CONNECTION_STRING", "HUB_CONNECTION_STRING_FILE",
        "HUB_NAME", "HUB_PLATFORMS", "DISPATCH_PREFETCH", "DISPATCH_CONCURRENCY",
        "DISPATCH_MAX_ATTEMPTS",
        "INGEST_API_KEYS_FILE", "AUTH_JWKS_FILE", "AUTH_JWKS_URL", "AUTH_ISSUER", "AUTH_AUDIENCE", "AUTH_USERS_FILE",
        "AUTH_TOKEN_SIGNING_KEY_FILE", "AUTH_TOKEN_TTL", "RETENTION", "RETRY_DELAYS", "DATABASE_MIGRATE",
    ]

    /// What this project adds, each with its reason in docs/reference/configuration.md.
    private static let additions = [
        "HUB_INSECURE_HOST", "DISPATCH_REGISTERED_ONLY", "HTTP_MAX_CONNECTIONS", "HTTP_MAX_CONNECTIONS_PER_ADDRESS",
        "HTTP_MAX_IN_FLIGHT", "HTTP_HEADER_TIMEOUT", "HTTP_BODY_TIMEOUT", "DATABASE_URL_FILE", "AMQP_URL_FILE",
        "AMQP_DECLARE", "ALLOW_INSECURE", "SILENT_PUSH_MIN_INTERVAL", "PUSH_SIGNING_KEY_FILE",
        "PUSH_VERIFICATION_KEYS_FILE", "WEB_PUSH_PUBLIC_KEY", "BROWSER_PUSH_URL", "HUB_TELEMETRY", "DEVICE_STALE_AFTER",
        "AUTH_REFRESH_TTL",
        "AUTH_USERNAME_CLAIM", "DISPATCH_WITHDRAW",
        "RETRIEVAL_CORS_ORIGINS", "RETRIEVAL_CORS_HEADERS", "RECIPIENT_E2E_REQUIRED", "E2E_KEY_NOTICE", "HTTPS_PROXY",
        "HTTPS_PROXY_FILE",
        "HTTP_PROXY",
        "HTTP_PROXY_FILE", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "ACCESS_LOG", "AUDIT_LOG",
        "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS",
        "OTEL_EXPORTER_OTLP_HEADERS_FILE",
        "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG",
        "ADMIN_ALLOWED_HOSTS", "RATE_LIMIT_USER", "INGEST_URL", "DISPATCHER_URL", "RETRIEVAL_URL", "HUB_URL",
        "TRUSTED_PROXIES", "HUB_ACCESS_FILE", "PUSH_CREDENTIALS_FILE", "HUB_ACCEPT_TIMEOUT", "HUB_RETRY_FOR",
        "HUB_SIMULATION_ALLOW", "WEB_PUSH_PUBLIC_KEY_FILE",
    ]

    /// The settings for operators: their page, several hubs, and traces.
    private static let operators = [
        "ADMIN_PASSWORD_FILE", "HUB_POOL_FILE", "OTEL_EXPORTER_OTLP_ENDPOINT",
    ]

    @Test func `Every key is documented once`() {
        let documented = Self.contract + Self.operators + Self.additions
        #expect(ConfigurationKeys.all.map(\.name).sorted() == documented.sorted())
    }

    @Test func `Meanings are complete`() {
        for key in ConfigurationKeys.all {
            #expect(key.meaning.count > 10 && !key.meaning.hasSuffix("."), "\(key.name)")
            #expect(!key.meaning.contains("\n"), "\(key.name)")
        }
    }

    @Test func `These settings are secrets`() {
        let secrets = ConfigurationKeys.all.filter(\.isSecret).map(\.name)
        #expect(
            secrets.sorted() == [
                "AMQP_URL", "DATABASE_URL", "HTTPS_PROXY", "HTTP_PROXY", "HUB_CONNECTION_STRING",
                "OTEL_EXPORTER_OTLP_HEADERS",
            ])
    }

    @Test func `Every secret may be in a file`() {
        let names = ConfigurationKeys.all.map(\.name)
        for key in ConfigurationKeys.all where key.isSecret { #expect(names.contains(key.name + "_FILE")) }
    }

    @Test func `Defaults can be read`() {
        var reader = ConfigurationReader(environment: [:])
        #expect(reader[\.httpHost] == "127.0.0.1")
        #expect(reader[\.logLevel] == .info)
        #expect(reader[\.databaseMigrate] == .auto)
        #expect(reader[\.retention] == .seconds(30 * 86_400))
        #expect(reader[\.authTokenTTL] == .seconds(3600))
        #expect(reader[\.retryDelays].count == 5)
        #expect(reader[\.hubPlatforms].map(\.rawValue) == ["apple", "fcmv1", "windows"])
        #expect(reader[\.dispatchPrefetch] == 1024)
        #expect(reader[\.silentPushMinInterval] == .some(nil))
        #expect(reader[\.amqpURL] == "amqp://guest:guest@127.0.0.1:5672/%2F")
        #expect(reader[\.databaseURL] == "sqlite:./.securepush/securepush.sqlite")
        #expect(reader.issues.isEmpty)
    }
}
