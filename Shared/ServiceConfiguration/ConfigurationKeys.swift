package import Domain
import Foundations
package import Logging

/// All settings of SecurePush, in the order of the reference page. A key is declared here and read in one place, which
/// makes it a setting of the services that read it there.
///
/// Decision: docs/decisions/0036-flags-by-argumentparser.md
@dynamicMemberLookup
package struct ConfigurationKeys: Sendable {
    package let httpHost = ConfigurationKey(
        "HTTP_HOST", .host, default: "127.0.0.1",
        meaning: "Address to listen on; 0.0.0.0 or :: for every interface")
    package let httpPort = ConfigurationKey(
        "HTTP_PORT", .port,
        defaultText: "ingest 8080, retrieval 8081, dispatcher 8082, operator 8083, hub 8085, hub-emulator 8090",
        meaning: "Port to listen on; 0 takes any free port and logs which")
    package let tlsCertificateFile = ConfigurationKey(
        "TLS_CERTIFICATE_FILE", .existingFile,
        meaning:
            "Certificate chain in PEM, leaf first: serve HTTPS with HTTP/1.1 and HTTP/2; needs TLS_PRIVATE_KEY_FILE")
    package let tlsPrivateKeyFile = ConfigurationKey(
        "TLS_PRIVATE_KEY_FILE", .existingFile, meaning: "Private key of the certificate, in PEM, not encrypted")
    package let allowInsecure = ConfigurationKey(
        "ALLOW_INSECURE", .list(of: .oneOf(InsecureLink.self, hint: "LINK"), hint: "LIST"),
        meaning: "Connections beyond loopback that may be unprotected: amqp (amqp://, verify=verify_none), "
            + "postgres (no sslmode=verify-ca or verify-full), jwks (http://), http (an API without TLS), "
            + "otlp (http://)")
    package let httpMaxConnections = ConfigurationKey(
        "HTTP_MAX_CONNECTIONS", .integer(16...1_000_000), defaultText: "0.8 of the descriptor limit (ulimit -n)",
        meaning: "Connections at once; 128 descriptors stay reserved. Above the limit, the connection that has been "
            + "idle for longest is closed")
    package let httpMaxConnectionsPerAddress = ConfigurationKey(
        "HTTP_MAX_CONNECTIONS_PER_ADDRESS", .integer(0...1_000_000), defaultText: "half of HTTP_MAX_CONNECTIONS",
        meaning: "Connections at once from one client address (IPv6: from one /64 network); 0 means no limit, for a "
            + "service behind a proxy")
    package let httpMaxInFlight = ConfigurationKey(
        "HTTP_MAX_IN_FLIGHT", .integer(1...1_000_000), default: "4096",
        meaning: "Requests in flight; above the limit, requests get 503 with Retry-After, except for /livez, /readyz, "
            + "/metrics and /version")
    package let httpHeaderTimeout = ConfigurationKey(
        "HTTP_HEADER_TIMEOUT", .duration(.milliseconds(100) ... .seconds(3600)), default: "10s",
        meaning: "Time for a request's head, from its first byte to its last")
    package let httpBodyTimeout = ConfigurationKey(
        "HTTP_BODY_TIMEOUT", .duration(.milliseconds(100) ... .seconds(3600)), default: "30s",
        meaning:
            "Time without a byte of a request's body after which the connection is closed. In all, a body of up to "
            + "64 KiB has 10 s, and a larger one must bring 1 KiB/s")
    package let trustedProxies = ConfigurationKey(
        "TRUSTED_PROXIES", .list(of: .addressBlock, hint: "ADDRESSES"),
        meaning:
            "Addresses and CIDR blocks of your reverse proxies, such as 10.0.0.0/8,::1. Only from them the client's "
            + "address is read from X-Forwarded-For or Forwarded, and their connections are not limited per address")
    package let logLevel = ConfigurationKey(
        "LOG_LEVEL", .logLevel, default: "info", meaning: "trace, debug, info, notice, warning, error or critical")
    package let logFormat = ConfigurationKey(
        "LOG_FORMAT", .oneOf(LogFormat.self, hint: "FORMAT"), defaultText: "text on a terminal, else json",
        meaning: "text or json (one object per line, OpenTelemetry names); logs go to standard error")
    package let accessLog = ConfigurationKey(
        "ACCESS_LOG", .boolean, default: "false",
        meaning: "Log a line at level info for each request: route, status, bytes, duration, the client's address, "
            + "request and trace ID; not for /livez, /readyz, /metrics and /version")
    package let auditLog = ConfigurationKey(
        "AUDIT_LOG", .string(hint: "FILE"), defaultText: "no audit log",
        meaning: "File to which each read, refusal, registration, change of keys and administrative action appends a "
            + "line; - for standard output. While it cannot be written, these requests get 503")
    package let telemetryDisabled = ConfigurationKey(
        "OTEL_SDK_DISABLED", .boolean, default: "false", meaning: "true: nothing is traced, whatever else is set")
    package let tracesExporter = ConfigurationKey(
        "OTEL_TRACES_EXPORTER", .list(of: .oneOf(TracesExporter.self, hint: "EXPORTER"), hint: "LIST"), default: "otlp",
        meaning: "otlp, or none: nothing is traced")
    package let otlpEndpoint = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_ENDPOINT", .string(hint: "URL"), defaultText: "no tracing",
        meaning: "Base URL of an OpenTelemetry collector, such as http://127.0.0.1:4318: spans are posted to its "
            + "/v1/traces as OTLP/HTTP in JSON")
    package let otlpTracesEndpoint = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", .string(hint: "URL"),
        meaning: "Whole URL that spans are posted to, instead of OTEL_EXPORTER_OTLP_ENDPOINT and /v1/traces")
    package let otlpHeaders = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_HEADERS", .headerFields, isSecret: true,
        meaning: "Header fields for the collector, such as api-key=SECRET, separated by commas; values are "
            + "percent-decoded")
    package let otlpHeadersFile = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_HEADERS_FILE", .existingFile,
        meaning: "File with the header fields for the collector, instead of OTEL_EXPORTER_OTLP_HEADERS; read at start")
    package let otlpTimeout = ConfigurationKey(
        "OTEL_EXPORTER_OTLP_TIMEOUT", .millisecondsOrDuration(.milliseconds(1) ... .seconds(3600)), default: "10s",
        meaning: "Time for one request to the collector; a number without a unit is milliseconds")
    package let otelServiceName = ConfigurationKey(
        "OTEL_SERVICE_NAME", .string(hint: "NAME"), defaultText: "the service's name",
        meaning: "service.name of the spans")
    package let tracesSampler = ConfigurationKey(
        "OTEL_TRACES_SAMPLER", .oneOf(TracesSampler.self, hint: "SAMPLER"), default: "parentbased_always_on",
        meaning: "Which traces are recorded: always_on, always_off, traceidratio, or the same after parentbased_, "
            + "which follows the caller's traceparent where there is one")
    package let tracesSamplerArgument = ConfigurationKey(
        "OTEL_TRACES_SAMPLER_ARG", .share, defaultText: "1",
        meaning: "Share of the traces that traceidratio records, from 0 to 1")
    package let databaseURL = ConfigurationKey(
        "DATABASE_URL", .string(hint: "URL"), default: "sqlite:./.securepush/securepush.sqlite", isSecret: true,
        meaning:
            "sqlite:PATH (embedded, one machine) or postgres://USER:PASSWORD@HOST/NAME (libpq, sslmode honoured)")
    package let databaseURLFile = ConfigurationKey(
        "DATABASE_URL_FILE", .existingFile,
        meaning: "File with the database URL, instead of DATABASE_URL; read at start")
    package let databaseMigrate = ConfigurationKey(
        "DATABASE_MIGRATE", .oneOf(DatabaseMigrate.self, hint: "MODE"), default: "auto",
        meaning: "auto runs pending migrations at start, under a lock; check refuses to start instead")
    package let amqpURL = ConfigurationKey(
        "AMQP_URL", .string(hint: "URL"), default: "amqp://guest:guest@127.0.0.1:5672/%2F", isSecret: true,
        meaning: "amqp:// or amqps:// URL of RabbitMQ; a comma-separated list is the nodes of one cluster")
    package let amqpURLFile = ConfigurationKey(
        "AMQP_URL_FILE", .existingFile, meaning: "File with the URL of RabbitMQ, instead of AMQP_URL; read at start")
    package let amqpDeclare = ConfigurationKey(
        "AMQP_DECLARE", .oneOf(AMQPDeclare.self, hint: "MODE"), default: "auto",
        meaning: "auto declares exchanges, queues and bindings at each connect; check only verifies that they "
            + "exist, for a broker user without the right to configure (securepush setup broker-users)")
    package let payloadKeysFile = ConfigurationKey(
        "PAYLOAD_KEYS_FILE", .existingFile,
        meaning: "Key ring for payloads, one KEYID base64(32 bytes) per line: the first key seals, all keys open; "
            + "ingest and retrieval refuse to start without it")
    package let retention = ConfigurationKey(
        "RETENTION", .duration(.seconds(1) ... .seconds(3650 * 86_400)), default: "30d",
        meaning: "Lifetime of a payload without ExpiresAt")
    package let hubConnectionString = ConfigurationKey(
        "HUB_CONNECTION_STRING", .string(hint: "TEXT"), isSecret: true,
        meaning: "Endpoint=sb://...;SharedAccessKeyName=...;SharedAccessKey=... as copied from the hub's portal page; "
            + "http:// endpoints for loopback only")
    package let hubConnectionStringFile = ConfigurationKey(
        "HUB_CONNECTION_STRING_FILE", .existingFile,
        meaning: "File with the connection string, instead of HUB_CONNECTION_STRING; read again when it changes")
    package let hubName = ConfigurationKey(
        "HUB_NAME", .string(hint: "NAME"), meaning: "Name of the notification hub")
    package let hubPoolFile = ConfigurationKey(
        "HUB_POOL_FILE", .existingFile,
        meaning: "File with several hubs, one per line: name and connection string; instead of HUB_NAME and "
            + "HUB_CONNECTION_STRING; read again when it changes")
    package let hubInsecureHost = ConfigurationKey(
        "HUB_INSECURE_HOST", .host,
        meaning: "The only host besides loopback that an http:// endpoint may name: a hub emulator in a private network"
    )
    package let hubPlatforms = ConfigurationKey(
        "HUB_PLATFORMS", .list(of: .platform, hint: "LIST"), default: "apple,fcmv1,windows",
        meaning: "Platforms fanned out to, each named once: apple, fcmv1, windows, adm, browser, gcm (legacy)")
    package let hubTelemetry = ConfigurationKey(
        "HUB_TELEMETRY", .boolean, default: "false",
        meaning: "Retrieval removes the devices whose push channel is dead according to the hub's feedback (rule with "
            + "Manage); the dispatcher asks for the outcome of each message and stores it (rule with Send); "
            + "needs the Standard tier")
    package let hubAccessFile = ConfigurationKey(
        "HUB_ACCESS_FILE", .existingFile,
        meaning:
            "Rules of the hub, HUB RULE RIGHTS KEY [SECONDARYKEY] per line (securepush hub create), which only its "
            + "owner may access; hub refuses to start without it. Read again when it changes")
    package let pushCredentialsFile = ConfigurationKey(
        "PUSH_CREDENTIALS_FILE", .existingFile,
        meaning: "JSON file of the credentials for the push services, by hub; hub refuses to start without it. It and "
            + "the files that it names are read again when they change")
    package let hubAcceptTimeout = ConfigurationKey(
        "HUB_ACCEPT_TIMEOUT", .duration(.milliseconds(100) ... .seconds(30)), default: "2s",
        meaning: "How long a send waits for the push services before it is stored and answered")
    package let hubRetryFor = ConfigurationKey(
        "HUB_RETRY_FOR", .duration(.seconds(1) ... .seconds(7 * 86_400)), default: "30m",
        meaning: "How long the hub tries a push again at most")
    package let hubSimulationAllow = ConfigurationKey(
        "HUB_SIMULATION_ALLOW", .list, defaultText: "loopback only",
        meaning: "For the page and the streams of simulated devices: client addresses and CIDR blocks besides loopback "
            + "that they answer, and further host names under which they do; none: they answer nobody")
    package let deviceStaleAfter = ConfigurationKey(
        "DEVICE_STALE_AFTER", .duration(.seconds(1) ... .seconds(36_500 * 86_400)), default: "270d",
        meaning: "Time after which a device is removed if it has neither registered nor renewed its registration")
    package let dispatchPrefetch = ConfigurationKey(
        "DISPATCH_PREFETCH", .integer(1...65_535), default: "1024", meaning: "Deliveries held by one dispatcher")
    package let dispatchConcurrency = ConfigurationKey(
        "DISPATCH_CONCURRENCY", .integer(1...4096), default: "768", meaning: "Hub requests in flight")
    package let dispatchMaxAttempts = ConfigurationKey(
        "DISPATCH_MAX_ATTEMPTS", .integer(1...1000), default: "10",
        meaning: "Tries of a send before the dead-letter queue")
    package let dispatchRegisteredOnly = ConfigurationKey(
        "DISPATCH_REGISTERED_ONLY", .boolean, default: "false",
        meaning: "Send only to platforms for which the recipient has a registered device; enable this only if all "
            + "devices register through SecurePush")
    package let dispatchWithdraw = ConfigurationKey(
        "DISPATCH_WITHDRAW", .oneOf(WithdrawalMode.self, hint: "MODE"), default: "revoked",
        meaning: "When devices remove a notification that was pushed: off, revoked (when its sender revokes it), read "
            + "(also when one device has read it, on devices with push keys). Give all dispatchers the same value")
    package let silentPushMinInterval = ConfigurationKey(
        "SILENT_PUSH_MIN_INTERVAL", .durationOrOff(.seconds(1) ... .seconds(86_400)), default: "off",
        meaning: "At most one silent push per recipient and platform within this time, by all dispatchers together; "
            + "notifications that arrive earlier share the next push. Give all dispatchers the same value")
    package let pushSigningKeyFile = ConfigurationKey(
        "PUSH_SIGNING_KEY_FILE", .existingFile,
        meaning: "P-256 key, PKCS#8 PEM: the dispatcher signs every push (securepush keys generate --push)")
    package let pushVerificationKeysFile = ConfigurationKey(
        "PUSH_VERIFICATION_KEYS_FILE", .existingFile,
        meaning:
            "JSON Web Key Set of the public keys (P-256) with which devices verify pushes: retrieval shows it at "
            + "GET /api/push-keys")
    package let webPushPublicKey = ConfigurationKey(
        "WEB_PUSH_PUBLIC_KEY", .applicationServerKey,
        meaning: "The hub's public VAPID key in base64url: retrieval shows it at GET /api/push-config, and web apps "
            + "subscribe with it")
    package let webPushPublicKeyFile = ConfigurationKey(
        "WEB_PUSH_PUBLIC_KEY_FILE", .existingFile,
        meaning: "File with the public VAPID key, instead of WEB_PUSH_PUBLIC_KEY; read at start")
    package let browserPushURL = ConfigurationKey(
        "BROWSER_PUSH_URL", .webPage,
        meaning: "https:// URL of the web app: pushes to browser are declarative messages as well, which Safari shows "
            + "without a service worker; a click opens this page. Give all dispatchers the same value")
    package let retryDelays = ConfigurationKey(
        "RETRY_DELAYS", .list(of: .duration(.seconds(1) ... .seconds(86_400)), hint: "DURATIONS"),
        default: "1s,5s,30s,2m,10m",
        meaning: "Delays before the second, third, ... try of a send, one delay queue each; further tries "
            + "repeat the last")
    package let ingestAPIKeysFile = ConfigurationKey(
        "INGEST_API_KEYS_FILE", .existingFile,
        meaning: "API keys of senders, one NAME sha256hex per line (securepush api-keys add); ingest refuses to "
            + "start without it")
    package let recipientE2ERequired = ConfigurationKey(
        "RECIPIENT_E2E_REQUIRED", .boolean, default: "false",
        meaning: "Ingest refuses every payload that is not encrypted end to end, the tutorial's confirmation with an "
            + "empty body included")
    package let e2eKeyNotice = ConfigurationKey(
        "E2E_KEY_NOTICE", .boolean, default: "false",
        meaning: "A notification tells a user's devices when one of them has a new key for end-to-end encryption: "
            + "retrieval notes it, and ingest sends it. Give both the same value")
    package let rateLimitUser = ConfigurationKey(
        "RATE_LIMIT_USER", .rateLimitOrOff, default: "30/m,burst=30",
        meaning: "How often a user may send a confirmation to itself, counted by each ingest process: a number per s, "
            + "m, h or d, and how many at once; off for no limit")
    package let authJWKSFile = ConfigurationKey(
        "AUTH_JWKS_FILE", .existingFile, meaning: "JSON Web Key Set for users' tokens (RSA, EC, Ed25519, oct)"
    )
    package let authJWKSURL = ConfigurationKey(
        "AUTH_JWKS_URL", .string(hint: "URL"),
        meaning: "URL of the key set: cached, and fetched again after some minutes and for a token that no known key "
            + "verifies; not together with AUTH_JWKS_FILE")
    package let authIssuer = ConfigurationKey(
        "AUTH_ISSUER", .string, meaning: "Required iss of tokens, and the iss of issued tokens; not checked if not set"
    )
    package let authAudience = ConfigurationKey(
        "AUTH_AUDIENCE", .string,
        meaning: "Required aud of tokens, and the aud of issued tokens; not checked if not set")
    package let authUsernameClaim = ConfigurationKey(
        "AUTH_USERNAME_CLAIM", .string(hint: "NAME"), default: "sub",
        meaning: "Claim of an identity provider's tokens that is the user name; tokens of AUTH_TOKEN_SIGNING_KEY_FILE "
            + "always have it in sub")
    package let authUsersFile = ConfigurationKey(
        "AUTH_USERS_FILE", .existingFile,
        meaning: "Users of Basic authentication, one USERNAME scrypt-hash per line (securepush users add)")
    package let authTokenSigningKeyFile = ConfigurationKey(
        "AUTH_TOKEN_SIGNING_KEY_FILE", .existingFile,
        meaning: "P-256 key in PEM (PKCS#8 or SEC1): retrieval itself issues ES256 tokens at POST /api/token")
    package let authTokenTTL = ConfigurationKey(
        "AUTH_TOKEN_TTL", .duration(.seconds(1) ... .seconds(365 * 86_400)), default: "1h",
        meaning: "Lifetime of the tokens that retrieval issues")
    package let authRefreshTTL = ConfigurationKey(
        "AUTH_REFRESH_TTL", .duration(.seconds(1) ... .seconds(3650 * 86_400)), defaultText: "no refresh tokens",
        meaning: "Lifetime of a refresh token; POST /api/token then returns one, and each refresh gives a new one. "
            + "Needs AUTH_TOKEN_SIGNING_KEY_FILE and AUTH_USERS_FILE")
    package let retrievalCORSOrigins = ConfigurationKey(
        "RETRIEVAL_CORS_ORIGINS", .list(of: .webOrigin, hint: "ORIGINS"),
        meaning: "Exact origins of web apps that may call retrieval from a browser, such as https://app.example.org; "
            + "none if not set")
    package let retrievalCORSHeaders = ConfigurationKey(
        "RETRIEVAL_CORS_HEADERS", .list(of: .headerName, hint: "NAMES"),
        meaning: "Request headers that web apps may send besides those that the API reads, such as Sentry-Trace; "
            + "none if not set")
    package let httpsProxy = ConfigurationKey(
        "HTTPS_PROXY", .string(hint: "URL"), isSecret: true,
        meaning: "Proxy for the hub, https:// key sets and https:// collectors, http://USER:PASSWORD@HOST:PORT; it "
            + "must allow CONNECT. https_proxy is read too")
    package let httpsProxyFile = ConfigurationKey(
        "HTTPS_PROXY_FILE", .existingFile,
        meaning: "File with the URL of the proxy, instead of HTTPS_PROXY; read at start")
    package let httpProxy = ConfigurationKey(
        "HTTP_PROXY", .string(hint: "URL"), isSecret: true,
        meaning: "Proxy for http:// key sets and http:// collectors; the hub is never reached through it. http_proxy "
            + "is read too")
    package let httpProxyFile = ConfigurationKey(
        "HTTP_PROXY_FILE", .existingFile,
        meaning: "File with the URL of the proxy, instead of HTTP_PROXY; read at start")
    package let noProxy = ConfigurationKey(
        "NO_PROXY", .proxyExceptions,
        meaning: "Hosts that are reached without a proxy: names (and those below them), .suffixes, addresses (all of "
            + "these also with :PORT), networks such as 10.0.0.0/8, * for every host. Loopback never has a proxy")
    package let sslCertFile = ConfigurationKey(
        "SSL_CERT_FILE", .existingFile, defaultText: "the system's authorities",
        meaning: "Authorities in PEM that are trusted instead of the system's, by every outgoing TLS connection")
    package let sslCertDir = ConfigurationKey(
        "SSL_CERT_DIR", .string(hint: "FOLDERS"),
        meaning: "Folders of such files, separated by colons; the broker uses SSL_CERT_FILE only")
    package let adminPasswordFile = ConfigurationKey(
        "ADMIN_PASSWORD_FILE", .existingFile,
        meaning: "File with the password of the user admin of the operator's page, or its scrypt hash; read again when "
            + "it changes. Needed if HTTP_HOST is beyond loopback")
    package let adminAllowedHosts = ConfigurationKey(
        "ADMIN_ALLOWED_HOSTS", .list,
        meaning: "Further host names under which the operator's page answers, besides HTTP_HOST and loopback names; "
            + "requests with another Host get 403")
    package let ingestURL = ConfigurationKey(
        "INGEST_URL", .list(of: .string, hint: "URLS"),
        meaning: "Base URLs of the ingest services whose state the operator's page shows; an http:// name with several "
            + "addresses stands for all of them")
    package let dispatcherURL = ConfigurationKey(
        "DISPATCHER_URL", .list(of: .string, hint: "URLS"),
        meaning: "Base URLs of the dispatchers whose state the operator's page shows, as for INGEST_URL")
    package let retrievalURL = ConfigurationKey(
        "RETRIEVAL_URL", .list(of: .string, hint: "URLS"),
        meaning: "Base URLs of the retrieval services whose state the operator's page shows, as for INGEST_URL")
    package let hubURL = ConfigurationKey(
        "HUB_URL", .list(of: .string, hint: "URLS"),
        meaning: "Base URLs of your own hubs whose state the operator's page shows, as for INGEST_URL")
}

extension ConfigurationKeys {
    static let shared = ConfigurationKeys()

    package static let all: [any ConfigurationKeyDescription] = Mirror(reflecting: shared).children.compactMap {
        $0.value as? any ConfigurationKeyDescription
    }

    /// `ConfigurationKeys.httpHost`, for parts that name a setting without reading it.
    package static subscript<Value>(
        dynamicMember key: KeyPath<ConfigurationKeys, ConfigurationKey<Value>>
    ) -> ConfigurationKey<Value> { shared[keyPath: key] }

    /// Files with secrets that stand in for no other setting, as `DATABASE_URL_FILE` does.
    static let secretFiles = [
        shared.tlsPrivateKeyFile.name, shared.payloadKeysFile.name, shared.hubPoolFile.name,
        shared.pushSigningKeyFile.name, shared.ingestAPIKeysFile.name, shared.authUsersFile.name,
        shared.authTokenSigningKeyFile.name, shared.adminPasswordFile.name,
    ]

    /// `HTTP_PORT` with the default of one service.
    package static func port(default port: Int) -> ConfigurationKey<Int> {
        ConfigurationKey(shared.httpPort.name, .port, default: "\(port)", meaning: shared.httpPort.meaning)
    }
}

/// The format of log lines (`LOG_FORMAT`).
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `time level message key=value`.
    case text
    /// For machines: one JSON object per line.
    case json
}

/// The treatment of pending migrations when a service starts (`DATABASE_MIGRATE`).
package enum DatabaseMigrate: String, CaseIterable, Sendable {
    /// Runs them under a lock.
    case auto
    /// Refuses to start.
    case check
}

/// The treatment of the exchanges and queues that a service uses (`AMQP_DECLARE`).
package enum AMQPDeclare: String, CaseIterable, Sendable {
    /// Declares them. One that exists with other arguments is an error.
    case auto
    /// Verifies that they exist.
    case check
}
