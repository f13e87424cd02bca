#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

    /// Whether a host can only be this machine: `localhost`, `::1` or an address of 127.0.0.0/8, also in brackets.
    package static func isLoopback(_ host: String) -> Bool {
        var name = host.lowercased()
        if name.first == "[", name.last == "]" { name = String(name.dropFirst().dropLast()) }
        if name == "localhost" { return true }
        var four = in_addr()
        if inet_pton(AF_INET, name, &four) == 1 { return withUnsafeBytes(of: &four) { $0[0] == 127 } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, name, &six) == 1 else { return false }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        return bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
            || bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF && bytes[12] == 127
    }
}
