package import Logging
package import SecurePushCore

/// All settings of SecurePush. Each service lists those that it uses.
package enum ConfigurationKeys {
    /// The key `HTTP_HOST`.
    package static let httpHost = ConfigurationKey(
        "HTTP_HOST", .string(hint: "HOST"), default: "127.0.0.1",
        meaning: "Address to listen on; 0.0.0.0 or :: for every interface")

    /// The key `HTTP_PORT`. Each service has its own default, see ``httpPort(default:)``.
    package static let httpPort = ConfigurationKey(
        "HTTP_PORT", .port, defaultText: "ingest 8080, retrieval 8081, dispatcher 8082, hub-emulator 8090",
        meaning: "Port to listen on; 0 takes any free port and logs which")

    /// ``httpPort`` with the default of one service.
    package static func httpPort(default port: Int) -> ConfigurationKey<Int> { httpPort.withDefault("\(port)") }

    /// The key `TLS_CERTIFICATE_FILE`.
    package static let tlsCertificateFile = ConfigurationKey(
        "TLS_CERTIFICATE_FILE", .existingFile,
        meaning:
            "Certificate chain in PEM, leaf first: serve HTTPS with HTTP/1.1 and HTTP/2; needs TLS_PRIVATE_KEY_FILE")

    /// The key `TLS_PRIVATE_KEY_FILE`.
    package static let tlsPrivateKeyFile = ConfigurationKey(
        "TLS_PRIVATE_KEY_FILE", .existingFile, meaning: "Private key of the certificate, in PEM")

    /// The key `ALLOW_INSECURE`.
    package static let allowInsecure = ConfigurationKey(
        "ALLOW_INSECURE", .list(of: .oneOf(InsecureLink.self, hint: "LINK"), hint: "LIST"),
        meaning: "Connections beyond loopback that may be unprotected: amqp (amqp://, verify=verify_none), "
            + "postgres (no sslmode=verify-ca or verify-full), jwks (http://), http (an API without TLS), "
            + "otlp (http://)")

    /// The key `HTTP_MAX_CONNECTIONS`.
    package static let httpMaxConnections = ConfigurationKey(
        "HTTP_MAX_CONNECTIONS", .integer(16...1_000_000), defaultText: "0.8 of the descriptor limit (ulimit -n)",
        meaning: "Connections at once; 128 descriptors stay reserved. Above the limit, the connection that has been "
            + "idle for longest is closed")

    /// The key `HTTP_MAX_CONNECTIONS_PER_ADDRESS`.
    package static let httpMaxConnectionsPerAddress = ConfigurationKey(
        "HTTP_MAX_CONNECTIONS_PER_ADDRESS", .integer(0...1_000_000), defaultText: "half of HTTP_MAX_CONNECTIONS",
        meaning: "Connections at once from one client address (IPv6: from one /64 network); 0 means no limit, for a "
            + "service behind a proxy")

    /// The key `HTTP_MAX_IN_FLIGHT`.
    package static let httpMaxInFlight = ConfigurationKey(
        "HTTP_MAX_IN_FLIGHT", .integer(1...1_000_000), default: "4096",
        meaning: "Requests in flight; above the limit, requests get 503 with Retry-After, except for /livez, /readyz, "
            + "/metrics and /version")

    /// The key `HTTP_HEADER_TIMEOUT`.
    package static let httpHeaderTimeout = ConfigurationKey(
        "HTTP_HEADER_TIMEOUT", .duration(.milliseconds(100) ... .seconds(3600)), default: "10s",
        meaning: "Time for a request's head, from its first byte to its last")

    /// The key `HTTP_BODY_TIMEOUT`.
    package static let httpBodyTimeout = ConfigurationKey(
        "HTTP_BODY_TIMEOUT", .duration(.milliseconds(100) ... .seconds(3600)), default: "30s",
        meaning:
            "Time without a byte of a request's body after which the connection is closed. In all, a body of up to "
            + "64 KiB has 10 s, and a larger one must bring 1 KiB/s")

    /// The key `TRUSTED_PROXIES`.
    package static let trustedProxies = ConfigurationKey(
        "TRUSTED_PROXIES", .list(of: .addressBlock, hint: "ADDRESSES"),
        meaning:
            "Addresses and CIDR blocks of your reverse proxies, such as 10.0.0.0/8,::1. Only from them the client's "
            + "address is read from X-Forwarded-For or Forwarded, and their connections are not limited per address")

    /// The key `LOG_LEVEL`.
    package static let logLevel = ConfigurationKey(
        "LOG_LEVEL", .logLevel, default: "info", meaning: "trace, debug, info, notice, warning, error or critical")

    /// The key `LOG_FORMAT`.
    package static let logFormat = ConfigurationKey(
        "LOG_FORMAT", .oneOf(LogFormat.self, hint: "FORMAT"), defaultText: "text on a terminal, else json",
        meaning: "text or json (one object per line, OpenTelemetry names); logs go to standard error")
}

extension ConfigurationKeys {
    /// The key `DATABASE_URL`.
    package static let databaseURL = ConfigurationKey(
        "DATABASE_URL", .string(hint: "URL"), default: "sqlite:./.securepush/securepush.sqlite", isSecret: true,
        meaning:
            "sqlite:PATH (embedded, one machine) or postgres://USER:PASSWORD@HOST/NAME (libpq, sslmode honoured)")

    /// The key `DATABASE_URL_FILE`.
    package static let databaseURLFile = ConfigurationKey(
        "DATABASE_URL_FILE", .existingFile,
        meaning: "File with the database URL, instead of DATABASE_URL; read at start")

    /// The key `DATABASE_MIGRATE`.
    package static let databaseMigrate = ConfigurationKey(
        "DATABASE_MIGRATE", .oneOf(DatabaseMigrate.self, hint: "MODE"), default: "auto",
        meaning: "auto runs pending migrations at start, under a lock; check refuses to start instead")

    /// The key `PAYLOAD_KEYS_FILE`.
    package static let payloadKeysFile = ConfigurationKey(
        "PAYLOAD_KEYS_FILE", .existingFile,
        meaning: "Key ring for payloads, one KEYID base64(32 bytes) per line: the first key seals, all keys open; "
            + "ingest and retrieval refuse to start without it")

    /// The key `RETENTION`.
    package static let retention = ConfigurationKey(
        "RETENTION", .duration(.seconds(1) ... .seconds(3650 * 86_400)), default: "30d",
        meaning: "Lifetime of a payload without ExpiresAt")
}

extension ConfigurationKeys {
    /// The key `AMQP_URL`.
    package static let amqpURL = ConfigurationKey(
        "AMQP_URL", .string(hint: "URL"), default: "amqp://guest:guest@127.0.0.1:5672/%2F", isSecret: true,
        meaning: "amqp:// or amqps:// URL of RabbitMQ; a comma-separated list is the nodes of one cluster")

    /// The key `AMQP_URL_FILE`.
    package static let amqpURLFile = ConfigurationKey(
        "AMQP_URL_FILE", .existingFile, meaning: "File with the URL of RabbitMQ, instead of AMQP_URL; read at start")

    /// The key `AMQP_DECLARE`.
    package static let amqpDeclare = ConfigurationKey(
        "AMQP_DECLARE", .oneOf(AMQPDeclare.self, hint: "MODE"), default: "auto",
        meaning: "auto declares exchanges, queues and bindings at each connect; check only verifies that they "
            + "exist, for a broker user without the right to configure (securepush setup broker-users)")

    /// The key `RETRY_DELAYS`.
    package static let retryDelays = ConfigurationKey(
        "RETRY_DELAYS", .durations(.seconds(1) ... .seconds(86_400)), default: "1s,5s,30s,2m,10m",
        meaning: "Delays before the second, third, ... try of a send, one delay queue each; further tries "
            + "repeat the last")

    /// The key `DISPATCH_PREFETCH`.
    package static let dispatchPrefetch = ConfigurationKey(
        "DISPATCH_PREFETCH", .integer(1...65_535), default: "1024", meaning: "Deliveries held by one dispatcher")

    /// The key `DISPATCH_CONCURRENCY`.
    package static let dispatchConcurrency = ConfigurationKey(
        "DISPATCH_CONCURRENCY", .integer(1...4096), default: "768", meaning: "Hub requests in flight")

    /// The key `DISPATCH_MAX_ATTEMPTS`.
    package static let dispatchMaxAttempts = ConfigurationKey(
        "DISPATCH_MAX_ATTEMPTS", .integer(1...1000), default: "10",
        meaning: "Tries of a send before the dead-letter queue")

    /// The key `DISPATCH_REGISTERED_ONLY`.
    package static let dispatchRegisteredOnly = ConfigurationKey(
        "DISPATCH_REGISTERED_ONLY", .boolean, default: "false",
        meaning: "Send only to platforms for which the recipient has a registered device; enable this only if all "
            + "devices register through SecurePush")

    /// The key `DISPATCH_WITHDRAW`.
    package static let dispatchWithdraw = ConfigurationKey(
        "DISPATCH_WITHDRAW", .oneOf(WithdrawalMode.self, hint: "MODE"), default: "revoked",
        meaning: "When devices remove a notification that was pushed: off, revoked (when its sender revokes it), read "
            + "(also when one device has read it). Give all dispatchers the same value")

    /// The key `SILENT_PUSH_MIN_INTERVAL`.
    package static let silentPushMinInterval = ConfigurationKey(
        "SILENT_PUSH_MIN_INTERVAL", .durationOrOff(.seconds(1) ... .seconds(86_400)), default: "off",
        meaning: "At most one silent push per recipient and platform within this time, by all dispatchers together; "
            + "notifications that arrive earlier share the next push. Give all dispatchers the same value")

    /// The key `PUSH_SIGNING_KEY_FILE`.
    package static let pushSigningKeyFile = ConfigurationKey(
        "PUSH_SIGNING_KEY_FILE", .existingFile,
        meaning: "Ed25519 key, PKCS#8 PEM: the dispatcher signs every push (securepush keys generate --push)")

    /// The key `PUSH_VERIFICATION_KEYS_FILE`.
    package static let pushVerificationKeysFile = ConfigurationKey(
        "PUSH_VERIFICATION_KEYS_FILE", .existingFile,
        meaning:
            "JSON Web Key Set of the public keys (Ed25519) with which devices verify pushes: retrieval shows it at "
            + "GET /api/push-keys")
}

extension ConfigurationKeys {
    /// The key `HUB_CONNECTION_STRING`.
    package static let hubConnectionString = ConfigurationKey(
        "HUB_CONNECTION_STRING", .string(hint: "TEXT"), isSecret: true,
        meaning: "Endpoint=sb://...;SharedAccessKeyName=...;SharedAccessKey=... as copied from the hub's portal page; "
            + "http:// endpoints for loopback only")

    /// The key `HUB_CONNECTION_STRING_FILE`.
    package static let hubConnectionStringFile = ConfigurationKey(
        "HUB_CONNECTION_STRING_FILE", .existingFile,
        meaning: "File with the connection string, instead of HUB_CONNECTION_STRING; read again when it changes")

    /// The key `HUB_NAME`.
    package static let hubName = ConfigurationKey(
        "HUB_NAME", .string(hint: "NAME"), meaning: "Name of the notification hub")

    /// The key `HUB_POOL_FILE`.
    package static let hubPoolFile = ConfigurationKey(
        "HUB_POOL_FILE", .existingFile,
        meaning: "File with several hubs, one per line: name and connection string; instead of HUB_NAME and "
            + "HUB_CONNECTION_STRING; read again when it changes")

    /// The key `HUB_INSECURE_HOST`.
    package static let hubInsecureHost = ConfigurationKey(
        "HUB_INSECURE_HOST", .string(hint: "HOST"),
        meaning: "The only host besides loopback that an http:// endpoint may name: a hub emulator in a private network"
    )

    /// The key `HUB_PLATFORMS`.
    package static let hubPlatforms = ConfigurationKey(
        "HUB_PLATFORMS", .list(of: .platform, hint: "LIST"), default: "apple,fcmv1,windows",
        meaning: "Platforms fanned out to, each named once: apple, fcmv1, windows, adm, browser, gcm (legacy)")

    /// The key `HUB_TELEMETRY`.
    package static let hubTelemetry = ConfigurationKey(
        "HUB_TELEMETRY", .boolean, default: "false",
        meaning: "Retrieval removes the devices whose push channel is dead according to the hub's feedback (rule with "
            + "Manage); the dispatcher asks for the outcome of each message and stores it (rule with Send); "
            + "needs the Standard tier")

    /// The key `DEVICE_STALE_AFTER`.
    package static let deviceStaleAfter = ConfigurationKey(
        "DEVICE_STALE_AFTER", .duration(.seconds(1) ... .seconds(36_500 * 86_400)), default: "270d",
        meaning: "Time after which a device is removed if it has neither registered nor renewed its registration")
}

extension ConfigurationKeys {
    /// The key `INGEST_API_KEYS_FILE`.
    package static let ingestAPIKeysFile = ConfigurationKey(
        "INGEST_API_KEYS_FILE", .existingFile,
        meaning: "API keys of senders, one NAME sha256hex per line (securepush api-keys add); ingest refuses to "
            + "start without it")

    /// The key `RECIPIENT_E2E_REQUIRED`.
    package static let recipientE2ERequired = ConfigurationKey(
        "RECIPIENT_E2E_REQUIRED", .boolean, default: "false",
        meaning: "Ingest refuses every payload that is not encrypted end to end, the tutorial's confirmation with an "
            + "empty body included")

    /// The key `RATE_LIMIT_USER`.
    package static let rateLimitUser = ConfigurationKey(
        "RATE_LIMIT_USER", .rateLimitOrOff, default: "30/m,burst=30",
        meaning: "How often a user may send a confirmation to itself, counted by each ingest process: a number per s, "
            + "m, h or d, and how many at once; off for no limit")

    /// The key `AUTH_JWKS_FILE`.
    package static let authJWKSFile = ConfigurationKey(
        "AUTH_JWKS_FILE", .existingFile, meaning: "JSON Web Key Set for users' tokens (RSA, EC, Ed25519, oct)"
    )

    /// The key `AUTH_JWKS_URL`.
    package static let authJWKSURL = ConfigurationKey(
        "AUTH_JWKS_URL", .string(hint: "URL"),
        meaning: "URL of the key set: cached, and fetched again after some minutes and for a token that no known key "
            + "verifies; not together with AUTH_JWKS_FILE")

    /// The key `AUTH_ISSUER`.
    package static let authIssuer = ConfigurationKey(
        "AUTH_ISSUER", .string, meaning: "Required iss of tokens, and the iss of issued tokens; not checked if not set"
    )

    /// The key `AUTH_AUDIENCE`.
    package static let authAudience = ConfigurationKey(
        "AUTH_AUDIENCE", .string,
        meaning: "Required aud of tokens, and the aud of issued tokens; not checked if not set")

    /// The key `AUTH_USERS_FILE`.
    package static let authUsersFile = ConfigurationKey(
        "AUTH_USERS_FILE", .existingFile,
        meaning: "Users of Basic authentication, one USERNAME scrypt-hash per line (securepush users add)")

    /// The key `AUTH_TOKEN_SIGNING_KEY_FILE`.
    package static let authTokenSigningKeyFile = ConfigurationKey(
        "AUTH_TOKEN_SIGNING_KEY_FILE", .existingFile,
        meaning: "P-256 key, PKCS#8 PEM: retrieval itself issues ES256 tokens at POST /api/token")

    /// The key `AUTH_TOKEN_TTL`.
    package static let authTokenTTL = ConfigurationKey(
        "AUTH_TOKEN_TTL", .duration(.seconds(1) ... .seconds(365 * 86_400)), default: "1h",
        meaning: "Lifetime of the tokens that retrieval issues")

    /// The key `AUTH_REFRESH_TTL`.
    package static let authRefreshTTL = ConfigurationKey(
        "AUTH_REFRESH_TTL", .duration(.seconds(1) ... .seconds(3650 * 86_400)), defaultText: "no refresh tokens",
        meaning: "Lifetime of a refresh token; POST /api/token then returns one, and each refresh gives a new one. "
            + "Needs AUTH_TOKEN_SIGNING_KEY_FILE and AUTH_USERS_FILE")
}

extension ConfigurationKeys {
    /// The key `RETRIEVAL_CORS_ORIGINS`.
    package static let retrievalCORSOrigins = ConfigurationKey(
        "RETRIEVAL_CORS_ORIGINS", .list(of: .webOrigin, hint: "ORIGINS"),
        meaning: "Exact origins of web apps that may call retrieval from a browser, such as https://app.example.org; "
            + "none if not set")

    /// The key `RETRIEVAL_CORS_HEADERS`.
    package static let retrievalCORSHeaders = ConfigurationKey(
        "RETRIEVAL_CORS_HEADERS", .list(of: .headerName, hint: "NAMES"),
        meaning: "Request headers that web apps may send besides those that the API reads, such as Sentry-Trace; "
            + "none if not set")
}

/// The format of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `time level message key=value`.
    case text
    /// For machines: one JSON object per line.
    case json
}

/// The treatment of pending migrations when a service starts.
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

extension ConfigurationKeys {
    /// Every key, in the order of the documentation.
    package static let all: [any ConfigurationKeyDescription] = [
        httpHost, httpPort, tlsCertificateFile, tlsPrivateKeyFile, allowInsecure, httpMaxConnections,
        httpMaxConnectionsPerAddress, httpMaxInFlight, httpHeaderTimeout, httpBodyTimeout, trustedProxies, logLevel,
        logFormat, accessLog, auditLog, otlpEndpoint, otlpTracesEndpoint, otlpHeaders, otlpHeadersFile, otlpTimeout,
        otelServiceName, tracesSampler, tracesSamplerArgument, databaseURL, databaseURLFile, databaseMigrate, amqpURL,
        amqpURLFile, amqpDeclare, payloadKeysFile, retention, hubConnectionString, hubConnectionStringFile, hubName,
        hubPoolFile, hubInsecureHost, hubPlatforms, hubTelemetry, deviceStaleAfter, dispatchPrefetch,
        dispatchConcurrency,
        dispatchMaxAttempts, dispatchRegisteredOnly, dispatchWithdraw, silentPushMinInterval, pushSigningKeyFile,
        pushVerificationKeysFile, retryDelays, ingestAPIKeysFile, recipientE2ERequired, rateLimitUser, authJWKSFile,
        authJWKSURL, authIssuer, authAudience,
        authUsersFile, authTokenSigningKeyFile, authTokenTTL, authRefreshTTL, retrievalCORSOrigins,
        retrievalCORSHeaders,
        httpsProxy, httpsProxyFile, httpProxy, httpProxyFile, noProxy, sslCertFile, sslCertDir,
        adminPort, adminHost, adminPasswordFile, adminAllowedHosts, dispatcherURL, retrievalURL,
    ]

    /// The table of `docs/reference/configuration.md`, which a test compares with this: a header and a row per key.
    package static func markdownTable() -> String {
        var lines = ["| key | flag | default | meaning |", "| --- | --- | --- | --- |"]
        for key in all {
            let meaning = key.meaning.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
            let flags = key.flags.map { "`\($0)`" }.joined(separator: ", ")
            lines.append("| `\(key.name)` | \(flags) | \(key.markdownDefault) | \(meaning) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ConfigurationKeyDescription {
    fileprivate var markdownDefault: String {
        if let defaultValue { return "`\(defaultValue)`" }
        return defaultText ?? "none"
    }
}
