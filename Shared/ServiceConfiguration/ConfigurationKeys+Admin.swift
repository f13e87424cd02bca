extension ConfigurationKeys {
    /// The keys of the operator's page, which ingest serves.
    package static let admin: [any ConfigurationKeyDescription] = [
        adminPort, adminHost, adminPasswordFile, adminAllowedHosts, dispatcherURL, retrievalURL,
    ]

    /// The key `ADMIN_PORT`.
    package static let adminPort = ConfigurationKey(
        "ADMIN_PORT", .port, defaultText: "no page",
        meaning: "Port of the operator's page and its API under /admin/api/; 0 takes any free port and logs which")

    /// The key `ADMIN_HOST`.
    package static let adminHost = ConfigurationKey(
        "ADMIN_HOST", .string(hint: "HOST"), default: "127.0.0.1",
        meaning: "Address that the operator's page listens on; beyond loopback it needs ADMIN_PASSWORD_FILE and TLS")

    /// The key `ADMIN_PASSWORD_FILE`.
    package static let adminPasswordFile = ConfigurationKey(
        "ADMIN_PASSWORD_FILE", .existingFile,
        meaning: "File with the password of the user admin of the operator's page, or its scrypt hash; read again when "
            + "it changes")

    /// The key `ADMIN_ALLOWED_HOSTS`.
    package static let adminAllowedHosts = ConfigurationKey(
        "ADMIN_ALLOWED_HOSTS", .list,
        meaning: "Further host names under which the operator's page answers, besides ADMIN_HOST and loopback names; "
            + "requests with another Host get 403")

    /// The key `DISPATCHER_URL`.
    package static let dispatcherURL = ConfigurationKey(
        "DISPATCHER_URL", .list(of: .string, hint: "URLS"),
        meaning: "Base URLs of the dispatchers whose metrics the operator's page shows; an http:// name with several "
            + "addresses stands for all of them")

    /// The key `RETRIEVAL_URL`.
    package static let retrievalURL = ConfigurationKey(
        "RETRIEVAL_URL", .list(of: .string, hint: "URLS"),
        meaning: "Base URLs of the retrieval services whose metrics the operator's page shows, as for DISPATCHER_URL")
}
