/// A kind of connection that `ALLOW_INSECURE` may name. Without that, it is refused beyond this machine.
package enum InsecureLink: String, CaseIterable, Sendable {
    /// RabbitMQ with `amqp://`, or with `amqps://` and `verify=verify_none`.
    case amqp
    /// PostgreSQL without `sslmode=verify-ca` or `verify-full`.
    case postgres
    /// A key set from an `http://` URL.
    case jwks
    /// An API that listens without TLS.
    case http
    /// Spans that go to an `http://` collector. They hold IDs, routes and times.
    case otlp

    /// Whether a host can only be this machine: `localhost`, `::1` or an address of 127.0.0.0/8. An address may be in
    /// brackets.
    package static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // An IPv4-mapped address has the bytes of the IPv4 address here.
        guard let bytes = NetworkAddress(host)?.bytes else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
    }
}
