/// The part of a URL that may be shown: scheme, host and port. Passwords, signatures and tokens stand in the others.
package enum PublicURL {
    private static let hidden = "(hidden)"

    /// Scheme, host and port of a URL, or of several URLs that are separated by commas; a URL may name several hosts.
    ///
    /// A password can hold an `@` that is not encoded, so the host begins after the last one. If it is not certain
    /// where the host begins, nothing but the scheme is shown; a text that is no URL is hidden.
    package static func describe(_ text: some StringProtocol) -> String {
        split(Array(text.utf8)).map { describe($0) }.joined(separator: ",")
    }

    /// Splits before each scheme that follows a comma: a comma can also separate the hosts of one URL.
    private static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ",") {
            let rest = bytes[(index + 1)...].drop { $0 == UInt8(ascii: " ") }
            guard scheme(rest) != nil else { continue }
            parts.append(bytes[start..<index])
            start = rest.startIndex
        }
        return parts + [bytes[start...]]
    }

    private static let schemeBytes = ByteSet.alphanumerics.union(ByteSet("+-."))

    /// The bytes before `://`.
    private static func scheme(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = bytes.prefix { schemeBytes.contains($0) }
        return scheme.isEmpty || !bytes[scheme.endIndex...].starts(with: "://".utf8) ? nil : scheme
    }

    private static let endBytes = ByteSet("/?#")
    private static let hostBytes = ByteSet.alphanumerics.union(ByteSet("-._:[],"))

    private static func describe(_ url: ArraySlice<UInt8>) -> String {
        guard let scheme = scheme(url) else { return hidden }
        let rest = url[(scheme.endIndex + 3)...]
        let authority = rest.prefix { !endBytes.contains($0) }
        let at = UInt8(ascii: "@")
        let host = authority.lastIndex(of: at).map { authority[($0 + 1)...] } ?? authority
        // A password with a `/`, `?` or `#` that is not encoded ends the authority too early.
        let isCertain = !rest[authority.endIndex...].contains(at)
        guard isCertain, !host.isEmpty, hostBytes.containsAll(host), hasPorts(host) else {
            return String(decoding: scheme, as: UTF8.self) + "://" + hidden
        }
        return String(decoding: scheme, as: UTF8.self) + "://" + String(decoding: host, as: UTF8.self)
    }

    /// Whether a number, the port, follows each host name: without an `@`, `USER:PASSWORD` could stand there.
    private static func hasPorts(_ hosts: ArraySlice<UInt8>) -> Bool {
        hosts.split(separator: UInt8(ascii: ",")).allSatisfy { host in
            if host.first == UInt8(ascii: "[") { return true }
            let parts = host.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            return parts.count == 1 || parts.count == 2 && ByteSet.digits.containsAll(parts[1])
        }
    }
}
