#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The address of a client, for limits per client.
///
/// IPv6 clients are counted by their /64 network: one subscriber usually gets one (RFC 6177), and a single host can use
/// all of its 2^64 addresses.
package struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    /// The first 4 bytes of an IPv4 address, the first 8 of an IPv6 one.
    private let network: [UInt8]
    /// The IPv4 address, or the IPv6 network as `2001:db8:0:1::/64`.
    package let description: String

    /// Reads an address.
    ///
    /// - Parameter text: an IP address as `inet_ntop` writes it; it may be an IPv4-mapped one.
    /// - Returns: `nil` for any other text.
    package init?(_ text: String) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(four: withUnsafeBytes(of: &four) { Array($0) })
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            self.init(four: Array(bytes.suffix(4)))
        } else {
            let groups = stride(from: 0, to: 8, by: 2).map { index in
                String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
            }
            self.init(network: Array(bytes.prefix(8)), description: groups.joined(separator: ":") + "::/64")
        }
    }

    /// The smallest network around the client that is routed by itself: /24 of IPv4, /48 of IPv6, which is the usual
    /// network of a customer.
    package var site: [UInt8] { Array(network.prefix(network.count == 4 ? 3 : 6)) }

    /// The network from which a provider gives its customers theirs: /32 of IPv6; ``site`` for IPv4.
    package var provider: [UInt8] { Array(network.prefix(network.count == 4 ? 3 : 4)) }

    private init(four bytes: [UInt8]) {
        self.init(network: bytes, description: bytes.map { "\($0)" }.joined(separator: "."))
    }

    private init(network: [UInt8], description: String) {
        self.network = network
        self.description = description
    }
}
