package import AsyncHTTPClient

extension OutgoingProxy {
    /// The setting of an HTTP client that goes through this proxy.
    package var setting: HTTPClient.Configuration.Proxy {
        .server(host: host, port: port, authorization: basicCredentials.map { .basic(credentials: $0) })
    }
}
