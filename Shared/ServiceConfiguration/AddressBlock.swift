#if canImport(Glibc)
import Domain
import Foundations
import Glibc
#else
import Darwin
#endif

/// The bytes of an IP address. An IPv4-mapped IPv6 address is the IPv4 address.
package struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16.
    let bytes: [UInt8]

    private static let characters = ByteSet("abcdefABCDEF.:").union(.digits)

    /// Reads an address as `inet_pton` does: no port, no zone, no leading zeros. It may be in brackets.
    ///
    /// - Returns: `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        guard let bytes = Self.bytes(of: text) else { return nil }
        self.init(bytes: bytes)
    }

    /// The first 96 bits of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2).
    private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    /// An IPv4 address of its four bytes.
    init(ipv4 bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    private init(bytes: [UInt8]) {
        self.bytes = bytes.starts(with: Self.mapped) ? Array(bytes.dropFirst(12)) : bytes
    }

    /// The 4 or 16 bytes as they are written.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let isBracketed = text.first == "[" && text.last == "]"
        let text = isBracketed ? String(text.dropFirst().dropLast()) : String(text)
        // No longer text is an address. A zero byte would end the C string.
        guard text.utf8.count <= 45, characters.containsAll(text) else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
        return nil
    }

    /// The usual text, as `inet_ntop` writes it.
    package var description: String {
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: 46)
        guard inet_ntop(AF_INET6, bytes, &text, 46) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// An IP address, or all addresses with the same first bits (CIDR, RFC 4632): `192.0.2.1`, `10.0.0.0/8`,
/// `2001:db8::/32`.
package struct AddressBlock: Sendable, Hashable {
    private let bytes: [UInt8]
    private let bits: Int

    /// Reads a block. The bits behind the prefix do not count, so `10.1.2.3/8` is `10.0.0.0/8`.
    ///
    /// - Returns: `nil` for a text that is neither an address nor a block.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, let bytes = NetworkAddress.bytes(of: address) else { return nil }
        var bits = bytes.count * 8
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), ByteSet.digits.containsAll(parts[1]),
                let number = Int(parts[1]), number <= bits
            else { return nil }
            bits = number
        }
        // A block of IPv4-mapped addresses is one of IPv4 addresses.
        let short = NetworkAddress(address)?.bytes ?? bytes
        if short.count < bytes.count, bits >= 96 {
            (self.bytes, self.bits) = (short, bits - 96)
        } else {
            (self.bytes, self.bits) = (bytes, bits)
        }
    }

    package func contains(_ address: NetworkAddress) -> Bool {
        guard address.bytes.count == bytes.count else { return false }
        return zip(address.bytes, bytes).enumerated().allSatisfy { index, pair in
            let count = min(8, max(0, bits - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> count)
            return pair.0 & mask == pair.1 & mask
        }
    }
}

extension ConfigurationParser where Value == AddressBlock {
    package static var addressBlock: Self {
        ConfigurationParser(hint: "ADDRESS") { text throws(ConfigurationRefusal) in
            guard let block = AddressBlock(text) else {
                throw ConfigurationRefusal("is no IP address and no block, as in 10.0.0.0/8 or 2001:db8::/32")
            }
            return block
        }
    }
}
