import Domain
import Foundations
import HTTPTypes
import NIOCore
import ServiceConfiguration
import Synchronization

/// The reverse proxies that may tell a client's address (`TRUSTED_PROXIES`).
///
/// The address comes from `X-Forwarded-For` or `Forwarded` (RFC 7239). Each proxy adds the address that it sees to the
/// right, and a client can send any beginning. So the addresses are read from the right: those of trusted proxies are
/// skipped, and the first other one is the client's. The addresses to its left are not trusted.
///
/// Usually a proxy sets one of the two fields and passes the other one on as the client wrote it. So if a request has
/// both, they must lead to the same address; otherwise the request counts as the proxy's own.
final class TrustedProxies: Sendable {
    private let blocks = Mutex<[AddressBlock]>([])
    private let isUsed = Atomic(false)

    /// Addresses that are read of a field, from the right.
    static let maxHops = 32

    /// Sets the proxies. Before the first call there are none.
    func set(_ blocks: [AddressBlock]) {
        self.blocks.withLock { $0 = blocks }
        isUsed.store(!blocks.isEmpty, ordering: .releasing)
    }

    /// Whether the other end of a connection is one of the proxies.
    func contains(_ peer: SocketAddress?) -> Bool { address(of: peer) != nil }

    /// The client of a request.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - fields: gives the two fields; only asked if the peer is trusted. Several fields of a name are one, joined by
    ///     commas (RFC 9110, section 5.3).
    /// - Returns: the peer, unless it is trusted and the fields tell another address.
    func client(
        of peer: SocketAddress?, _ fields: () -> (forwarded: String?, forwardedFor: String?)
    ) -> SocketAddress? {
        guard let own = address(of: peer) else { return peer }
        let (forwarded, forwardedFor) = fields()
        let blocks = blocks.withLock { $0 }
        let told = forwardedFor.map { Self.client(Self.hops(forwardedFor: $0), behind: own, blocks) }
        let other = forwarded.map { Self.client(Self.hops(forwarded: $0), behind: own, blocks) }
        if let told, let other, told != other { return peer }
        guard let client = told ?? other, client != own else { return peer }
        return try? SocketAddress(ipAddress: client.description, port: 0)
    }

    /// The address of the client, by the fields of a request.
    func client(of peer: SocketAddress?, _ fields: HTTPFields) -> SocketAddress? {
        client(of: peer) { (fields[.forwarded], fields[.xForwardedFor]) }
    }

    private func address(of peer: SocketAddress?) -> NetworkAddress? {
        guard isUsed.load(ordering: .acquiring), let address = peer?.ipAddress.flatMap({ NetworkAddress($0) }),
            blocks.withLock({ blocks in blocks.contains { $0.contains(address) } })
        else { return nil }
        return address
    }

    /// - Parameter hops: from the client to the nearest proxy; `nil` is an element that names no address.
    private static func client(
        _ hops: [NetworkAddress?], behind proxy: NetworkAddress, _ blocks: [AddressBlock]
    ) -> NetworkAddress {
        var client = proxy
        for hop in hops.reversed().prefix(maxHops) {
            // Addresses to the left of an unknown hop are not trusted.
            guard let hop else { return client }
            client = hop
            guard blocks.contains(where: { $0.contains(hop) }) else { return hop }
        }
        return client
    }

    // MARK: The fields

    static func hops(forwardedFor field: String) -> [NetworkAddress?] {
        field.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).suffix(maxHops)
            .map { node(trimmed(Substring($0))) }
    }

    static func hops(forwarded field: String) -> [NetworkAddress?] {
        guard let elements = parts(of: field.utf8[...], separator: UInt8(ascii: ",")) else { return [] }
        return elements.suffix(maxHops).map { element in
            var found: [NetworkAddress?] = []
            for pair in parts(of: element, separator: UInt8(ascii: ";")) ?? [] {
                let pair = trimmed(Substring(pair))
                guard let sign = pair.firstIndex(of: "="), pair[..<sign].lowercased() == "for" else { continue }
                found.append(node(unquoted(pair[pair.index(after: sign)...])))
            }
            return found.count == 1 ? found[0] : nil
        }
    }

    /// Splits at the separators outside of quoted strings (RFC 9110, section 5.6.4).
    ///
    /// - Returns: `nil` if a quoted string does not end: a client could hide in it the element that a proxy adds.
    private static func parts(
        of text: Substring.UTF8View, separator: UInt8
    ) -> [Substring.UTF8View]? {
        var parts: [Substring.UTF8View] = []
        var (start, index) = (text.startIndex, text.startIndex)
        var isQuoted = false
        while index < text.endIndex {
            let byte = text[index]
            let next = text.index(after: index)
            if isQuoted, byte == UInt8(ascii: "\\"), next < text.endIndex {
                index = text.index(after: next)
                continue
            }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == separator, !isQuoted {
                parts.append(text[start..<index])
                start = next
            }
            index = next
        }
        return isQuoted ? nil : parts + [text[start...]]
    }

    /// The text of a value; empty if only a part of it is quoted. No address has an escaped character.
    private static func unquoted(_ value: Substring) -> Substring {
        guard value.utf8.contains(UInt8(ascii: "\"")) else { return value }
        guard value.utf8.count >= 2, value.first == "\"", value.last == "\"" else { return "" }
        return value.dropFirst().dropLast()
    }

    /// An address, maybe with a port; an IPv6 address with a port is in brackets.
    private static func node(_ text: Substring) -> NetworkAddress? {
        if let address = NetworkAddress(text) { return address }
        guard let colon = text.lastIndex(of: ":"), text.first == "[" || text.firstIndex(of: ":") == colon else {
            return nil
        }
        let port = text[text.index(after: colon)...]
        guard (1...5).contains(port.utf8.count), ByteSet.digits.containsAll(port) else { return nil }
        return NetworkAddress(text[..<colon])
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let blanks = ByteSet(" \t")
        var bytes = text.utf8
        while let first = bytes.first, blanks.contains(first) { bytes.removeFirst() }
        while let last = bytes.last, blanks.contains(last) { bytes.removeLast() }
        return Substring(bytes)
    }
}

extension HTTPField.Name {
    /// RFC 7239.
    fileprivate static let forwarded = HTTPField.Name(static: "forwarded")
    /// The field that most proxies set.
    fileprivate static let xForwardedFor = HTTPField.Name(static: "x-forwarded-for")
}
