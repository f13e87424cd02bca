extension NetworkAddress {
    /// Whether the address is one of IANA's special-purpose registries (RFC 6890), or multicast: private, loopback,
    /// link-local, shared, documentation and others that a server in the Internet does not have. IPv6 addresses that
    /// embed such an IPv4 address count too.
    package var isSpecialPurpose: Bool {
        if bytes.count == 4 { return Self.specialIPv4.contains { $0.contains(self) } }
        // An address behind NAT64 (RFC 6052) is as special as the IPv4 address in it.
        if bytes.starts(with: Self.translated) { return NetworkAddress(ipv4: bytes.suffix(4)).isSpecialPurpose }
        // Global unicast addresses are in 2000::/3; IANA has given out nothing else for servers.
        return bytes[0] & 0xE0 != 0x20 || Self.specialIPv6.contains { $0.contains(self) }
    }

    /// Whether packets to it stay on this machine: `127.0.0.0/8`, `::1`.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }

    /// `64:ff9b::/96`.
    private static let translated: [UInt8] = [0x00, 0x64, 0xFF, 0x9B] + Array(repeating: 0, count: 8)

    private static let specialIPv4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap { AddressBlock($0) }

    /// Within `2000::/3`: IETF protocol assignments with Teredo, documentation, and 6to4, which embeds IPv4.
    private static let specialIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
        .compactMap { AddressBlock($0) }
}
