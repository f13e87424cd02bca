import NIOCore

/// Who is counted as one client: an IPv4 address, or the first 64 bits of an IPv6 address, which is the smallest
/// network that one customer is given (RFC 6177). `nil` for a socket without an IP address.
struct ClientAddress: Hashable, Sendable {
    private let bits: UInt64

    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address):
            // sockaddr_in: family, port, address.
            bits = UInt64(withUnsafeBytes(of: address.address) { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) })
        case .v6(let address):
            // sockaddr_in6: family, port, flow, address.
            bits = withUnsafeBytes(of: address.address) { structure in
                let bytes = UnsafeRawBufferPointer(rebasing: structure[8..<24])
                // ::ffff:a.b.c.d (RFC 4291, 2.5.5.2): an IPv4 client of a socket that listens on `::`.
                if bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
                    return UInt64(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                }
                return bytes.loadUnaligned(as: UInt64.self)
            }
        default: return nil
        }
    }
}
