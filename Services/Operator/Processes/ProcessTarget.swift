import Foundations

/// The base URL of a process that is polled, or of several with one name.
struct ProcessTarget: Sendable, Hashable {
    let isSecure: Bool
    /// A name or an address; IPv6 without brackets.
    let host: String
    let port: Int

    /// - Returns: `nil` for anything but `http://HOST:PORT` or `https://HOST:PORT`, the port being optional.
    init?(_ text: String) {
        guard let endpoint = try? Endpoint(text, schemes: ["http", "https"]) else { return nil }
        isSecure = endpoint.scheme == "https"
        host = endpoint.host
        port = endpoint.port ?? (isSecure ? 443 : 80)
    }

    /// `HOST:PORT`.
    var authority: String { "\(Self.inURL(host)):\(port)" }
    var text: String { text(at: host) }

    /// The URL with an address in place of the name.
    func text(at address: String) -> String { "\(isSecure ? "https" : "http")://\(Self.inURL(address)):\(port)" }

    private static func inURL(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
