/// A block of a text in PEM (RFC 7468), as OpenSSL and others write it: other blocks and lines may be around it.
package struct PEMBlock: Sendable {
    /// Such as `EC PRIVATE KEY`.
    package let label: String
    /// Whether a password is needed: PKCS#8 has a label for it, older keys a header (RFC 1421, section 4.6.1.1).
    package let isEncrypted: Bool
    private let base64: String

    /// `nil` for text that is not Base64.
    package var bytes: [UInt8]? { Base64.decode(base64, .standard) }

    /// The only private key in a text; `nil` if there is none, or another one.
    ///
    /// - Throws: ``SetupError`` `malformed` for a key that is encrypted, because a service cannot ask for its password.
    package static func privateKey(in text: String) throws(SetupError) -> PEMBlock? {
        let keys = all(in: text).filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard !keys.contains(where: \.isEncrypted) else {
            throw SetupError(
                .malformed, "the private key is encrypted: decrypt it with `openssl pkey -in FILE -out NEWFILE`")
        }
        return keys.count == 1 ? keys.first : nil
    }

    /// The blocks that end, in their order.
    private static func all(in text: String) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var open: (label: String, lines: [String])?
        for line in OutsideText.lines(text).map({ OutsideText.trimmed($0) }) {
            if let label = label(of: line, after: "-----BEGIN ") {
                open = (label, [])
            } else if let (label, lines) = open, label == Self.label(of: line, after: "-----END ") {
                blocks.append(PEMBlock(label, lines))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }

    private init(_ label: String, _ lines: [String]) {
        // No character of Base64 is a colon.
        let headers = lines.filter { $0.contains(":") }
        self.label = label
        isEncrypted = label.hasPrefix("ENCRYPTED ") || headers.contains { $0.contains("ENCRYPTED") }
        base64 = lines.filter { !$0.contains(":") }.joined()
    }

    private static func label(of line: String, after start: String) -> String? {
        guard line.hasPrefix(start), line.hasSuffix("-----") else { return nil }
        return String(line.dropFirst(start.count).dropLast(5))
    }
}
