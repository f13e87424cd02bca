import SecurePushCore

extension ConfigurationKeys {
    /// The key `HTTPS_PROXY`.
    package static let httpsProxy = ConfigurationKey(
        "HTTPS_PROXY", .string(hint: "URL"), isSecret: true,
        meaning: "Proxy for the hub, https:// key sets and https:// collectors, http://USER:PASSWORD@HOST:PORT; it "
            + "must allow CONNECT. https_proxy is read too")

    /// The key `HTTPS_PROXY_FILE`.
    package static let httpsProxyFile = ConfigurationKey(
        "HTTPS_PROXY_FILE", .existingFile,
        meaning: "File with the URL of the proxy, instead of HTTPS_PROXY; read at start")

    /// The key `HTTP_PROXY`.
    package static let httpProxy = ConfigurationKey(
        "HTTP_PROXY", .string(hint: "URL"), isSecret: true,
        meaning: "Proxy for http:// key sets and http:// collectors; the hub is never reached through it. http_proxy "
            + "is read too")

    /// The key `HTTP_PROXY_FILE`.
    package static let httpProxyFile = ConfigurationKey(
        "HTTP_PROXY_FILE", .existingFile,
        meaning: "File with the URL of the proxy, instead of HTTP_PROXY; read at start")

    /// The key `NO_PROXY`.
    package static let noProxy = ConfigurationKey(
        "NO_PROXY", .proxyExceptions,
        meaning: "Hosts that are reached without a proxy: names (and those below them), .suffixes, addresses (all of "
            + "these also with :PORT), networks such as 10.0.0.0/8, * for every host. Loopback never has a proxy")

    /// The key `SSL_CERT_FILE`.
    package static let sslCertFile = ConfigurationKey(
        "SSL_CERT_FILE", .existingFile, defaultText: "the system's authorities",
        meaning: "Authorities in PEM that are trusted instead of the system's, by every outgoing TLS connection")

    /// The key `SSL_CERT_DIR`.
    package static let sslCertDir = ConfigurationKey(
        "SSL_CERT_DIR", .string(hint: "FOLDERS"),
        meaning: "Folders of such files, separated by colons; the broker uses SSL_CERT_FILE only")
}
