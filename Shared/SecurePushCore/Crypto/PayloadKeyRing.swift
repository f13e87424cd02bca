import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys that payloads are sealed with: the first seals, all open.
///
/// As a file: one `KEYID base64(32 bytes)` a line; blank lines and lines that begin with `#` are left out.
public struct PayloadKeyRing: Sendable {
    /// A key and the name that is stored beside what it sealed.
    public struct Key: Sendable {
        /// 1 to 64 of `A-Z a-z 0-9 . _ -`.
        public let id: String
        let key: SymmetricKey
    }

    /// In the order of the file, and never empty.
    public let keys: [Key]
    private let keysByID: [String: SymmetricKey]

    /// Reads the text of a key ring file.
    ///
    /// - Throws: ``PayloadKeyRingError``, which names the line and never anything of its content.
    public init(_ text: String) throws(PayloadKeyRingError) {
        var keys: [Key] = []
        var keysByID: [String: SymmetricKey] = [:]
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
            guard let first = fields.first, first.first != UInt8(ascii: "#") else { continue }
            let key = try Key(fields: fields.map { String(decoding: $0, as: UTF8.self) }, line: index + 1)
            guard keysByID.updateValue(key.key, forKey: key.id) == nil else {
                throw PayloadKeyRingError(line: index + 1, "This key's ID was used by a line above. Give each its own.")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else {
            throw PayloadKeyRingError(line: nil, "There is no key. Make one with `securepush keys generate`.")
        }
        self.keys = keys
        self.keysByID = keysByID
    }

    /// The key that seals.
    var sealingKey: Key { keys[0] }

    /// The key of this ID, if the ring holds it.
    func key(_ id: String) -> SymmetricKey? { keysByID[id] }

    /// The IDs, the sealing one first.
    public var keyIDs: [String] { keys.map(\.id) }
}

extension PayloadKeyRing.Key {
    fileprivate init(fields: [String], line: Int) throws(PayloadKeyRingError) {
        guard fields.count == 2 else {
            throw PayloadKeyRingError(
                line: line, "A line is `KEYID base64(32 bytes)`. Make one with `securepush keys generate`.")
        }
        guard PayloadKeyRing.isKeyID(fields[0]) else {
            throw PayloadKeyRingError(line: line, "A key's ID is 1 to 64 letters, digits, dots, dashes or underscores.")
        }
        guard let bytes = Data(base64Encoded: fields[1]), bytes.count == 32 else {
            throw PayloadKeyRingError(
                line: line,
                "The key is not the base64 form of 32 bytes. Make one with `securepush keys generate`.")
        }
        self.init(id: fields[0], key: SymmetricKey(data: bytes))
    }
}

extension PayloadKeyRing {
    static func isKeyID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
