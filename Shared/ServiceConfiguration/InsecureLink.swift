public import NIOSSL

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A kind of connection that `ALLOW_INSECURE` may name. Beyond this machine each is refused unless it does.
public enum InsecureLink: String, CaseIterable, Sendable {
    /// RabbitMQ by `amqp://`, or by `amqps://` with `verify=verify_none`.
    case amqp
    /// PostgreSQL without `sslmode=verify-ca` or `verify-full`.
    case postgres
    /// A key set by `http://`.
    case jwks
    /// An API that listens without TLS.
    case http

    /// Whether a host can only be this machine: `localhost`, `::1` or an address of 127.0.0.0/8; also in brackets.
    public static func isLoopback(_ host: String) -> Bool {
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

extension ConfigurationReader {
    /// Whether `ALLOW_INSECURE` names this kind of connection.
    public mutating func allows(_ link: InsecureLink) -> Bool {
        // What cannot be read is noted once, however many ask.
        let before = issues
        let allowed = read(ConfigurationKeys.allowInsecure) ?? []
        if before.contains(where: { $0.key == ConfigurationKeys.allowInsecure.name }) { restore(before) }
        return allowed.contains(link)
    }

    /// Notes hosts beyond this machine that a setting reaches in the clear, unless `ALLOW_INSECURE` allows it.
    ///
    /// - Parameters:
    ///   - hosts: those that are not local and not protected; without credentials.
    ///   - remedy: the secure form, as `use amqps://`.
    public mutating func refuse(_ hosts: [String], of key: String, as link: InsecureLink, remedy: String) {
        guard !hosts.isEmpty, !allows(link) else { return }
        note(
            key,
            "\(hosts.joined(separator: ", ")) beyond this machine without verified TLS: \(remedy), "
                + "or set ALLOW_INSECURE=\(link.rawValue)")
    }
}

/// The TLS settings of every HTTP client here: TLS 1.2 at least (RFC 8996 forbids what is older), names verified.
public enum OutgoingTLS {
    public static var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        return configuration
    }
}
