import Foundations

/// The URL of a device at a push service, taken apart once: the bytes that are checked are those that are sent.
package struct PushDestination: Sendable, Hashable {
    package let origin: PushOrigin
    /// With the query; begins with a slash.
    package let path: String

    /// Why a URL is refused. The texts do not repeat the URL, which is a secret of the device.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case tooLong(Int)
        case notHTTPS, malformed, userInformation, fragment
        /// The host, or its port, is not one that pushes may go to.
        case notAllowed

        package var description: String {
            switch self {
            case .tooLong(let limit): "longer than \(limit) bytes"
            case .notHTTPS: "not an https URL"
            case .malformed: "not a URL"
            case .userInformation: "a URL with user information"
            case .fragment: "a URL with a fragment"
            case .notAllowed: "not of a push service that is allowed here"
            }
        }
    }

    private static let scheme = Array("https://".utf8)
    private static let pathBytes = ByteSet.unreserved.union(ByteSet("!$&'()*+,;=:@/?%"))

    /// Reads an absolute URL (RFC 3986). Nothing is decoded or made shorter; only the host gets lower case.
    init(_ url: String, maxBytes: Int) throws(Problem) {
        let bytes = Array(url.utf8)
        guard bytes.count <= maxBytes else { throw .tooLong(maxBytes) }
        guard bytes.count > Self.scheme.count,
            zip(bytes, Self.scheme).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 && ByteSet.alphanumerics.contains($0) })
        else { throw .notHTTPS }
        let rest = bytes[Self.scheme.count...]
        guard !rest.contains(UInt8(ascii: "#")) else { throw .fragment }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let tail = rest[authority.endIndex...]
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
        guard let (host, port) = PushHost.split(authority), Self.pathBytes.containsAll(tail) else { throw .malformed }
        origin = PushOrigin(host: host, port: port ?? 443)
        path = (tail.first == UInt8(ascii: "/") ? "" : "/") + String(decoding: tail, as: UTF8.self)
    }
}

/// The part of a URL between `//` and the path.
enum PushHost {
    private static let nameBytes = ByteSet.alphanumerics.union(ByteSet("-_"))
    private static let addressBytes = ByteSet.hexDigits.union(ByteSet(":."))

    /// Reads `HOST` or `HOST:PORT`. A host is a name or an address; an IPv6 address stands in brackets.
    ///
    /// - Returns: the host in lower case, an IPv6 address without its brackets; `nil` for anything else, such as a
    ///   final dot, an empty port, a port with a leading zero, or an escape.
    static func split(_ bytes: some BidirectionalCollection<UInt8>) -> (host: String, port: Int?)? {
        let authority = Array(bytes)
        guard authority.first == UInt8(ascii: "[") else {
            let host = authority.prefix { $0 != UInt8(ascii: ":") }
            let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard host.count <= 253, labels.allSatisfy({ (1...63).contains($0.count) && nameBytes.containsAll($0) })
            else { return nil }
            return port(authority[host.endIndex...]).map { (lowercased(host), $0) }
        }
        guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let address = authority[1..<end]
        guard address.contains(UInt8(ascii: ":")), addressBytes.containsAll(address) else { return nil }
        return port(authority[(end + 1)...]).map { (lowercased(address), $0) }
    }

    /// The outer `nil` stands for a text that is not a port.
    private static func port(_ text: ArraySlice<UInt8>) -> Int?? {
        guard text.first == UInt8(ascii: ":") else { return text.isEmpty ? .some(nil) : nil }
        let digits = text.dropFirst()
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), ByteSet.digits.containsAll(digits),
            let port = Int(String(decoding: digits, as: UTF8.self)), port <= 65_535
        else { return nil }
        return .some(port)
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension PushOrigin {
    /// As in `Host` and `:authority` (RFC 9110, section 7.2): without the port if it is 443.
    package var authority: String {
        let name = host.utf8.contains(0x3A) ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    /// The origin as JSON Web Tokens name it (`aud`, RFC 8292): `https://HOST`, or `https://HOST:PORT`.
    package var text: String { "https://\(authority)" }
}
