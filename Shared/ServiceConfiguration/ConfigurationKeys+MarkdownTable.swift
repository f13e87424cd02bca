extension ConfigurationKeys {
    /// Every key, in the order of the documentation.
    public static let all: [any ConfigurationKeyDescription] = [
        httpHost, httpPort, tlsCertificateFile, tlsPrivateKeyFile, httpMaxConnections, httpMaxConnectionsPerAddress,
        httpMaxInFlight, httpHeaderTimeout, httpBodyTimeout, logLevel, logFormat, databaseURL, databaseMigrate,
        amqpURL, payloadKeysFile, retention, hubConnectionString, hubConnectionStringFile, hubName, hubInsecureHost,
        hubPlatforms, dispatchPrefetch, dispatchConcurrency, dispatchMaxAttempts,
        dispatchRegisteredOnly, retryDelays, ingestAPIKeysFile, authJWKSFile, authJWKSURL, authIssuer, authAudience,
        authUsersFile, authTokenSigningKeyFile, authTokenTTL,
    ]

    /// The table of `docs/configuration.md`, which a test compares with this: a header and a row for each key.
    public static func markdownTable() -> String {
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
