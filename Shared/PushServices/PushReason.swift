package import Foundations

/// Makes the `reason` of a ``PushResult`` from the text of a push service.
package enum PushReason {
    private static let maxBytes = 64
    /// Words of reasons are short. A longer one can be a token or a part of an address.
    private static let maxWord = 32
    private static let shown = ByteSet.alphanumerics.union(ByteSet(" _-.,:;()'/"))

    /// The reason as it may be logged and stored: ASCII, at most 64 bytes, without addresses and long words.
    ///
    /// - Parameters:
    ///   - text: the push service's words, if it has any.
    ///   - status: the status of the response, which stands for missing words.
    package static func text(_ text: String?, status: Int) -> String {
        let bytes = (text ?? "").utf8.prefix(1_024).map { shown.contains($0) ? $0 : UInt8(ascii: " ") }
        let words = bytes.split(separator: UInt8(ascii: " ")).map { word in
            word.count > maxWord || word.contains(UInt8(ascii: "/")) ? Array("...".utf8) : Array(word)
        }
        let reason = Array(words.joined(separator: [UInt8(ascii: " ")])).prefix(maxBytes)
        return reason.isEmpty ? "HTTP \(status)" : String(decoding: reason, as: UTF8.self)
    }

    /// The object in the body of an error, if the body is a small one of JSON.
    package static func object(in body: [UInt8]) -> JSONValue? {
        guard body.count <= 8_192, body.first == UInt8(ascii: "{") else { return nil }
        return try? JSONValue(strict: body)
    }
}
