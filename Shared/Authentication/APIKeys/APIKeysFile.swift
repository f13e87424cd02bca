internal import Crypto
internal import Domain
internal import Foundations

/// The file of the senders' API keys (`INGEST_API_KEYS_FILE`), with one `NAME sha256hex` per line: the hash of the text
/// of the key.
///
/// NAME is 1 to 64 of `A-Z a-z 0-9 . _ -`. A name may have several lines, so that a sender can get a new key before the
/// old one is removed. A hash may have only one line. Edits are atomic and leave the file with the mode 0600.
package struct APIKeysFile: Sendable {
    package let path: String

    /// The file at a path; it need not exist yet.
    package init(path: String) { self.path = path }

    /// Makes a key for a new sender, and the file if there is none.
    ///
    /// - Parameter show: gets the key before it is stored. If it throws, nothing is stored.
    /// - Returns: the key. It cannot be shown again, because the file has only its hash.
    /// - Throws: ``SetupError``: `invalidName`, `alreadyExists`, `malformed`, `unreadable`, `unwritable`;
    ///   and the errors of `show`.
    package func add(_ name: String, showing show: (String) throws -> Void = { _ in }) throws -> String {
        guard APIKey.isName(name) else {
            throw SetupError(.invalidName, "the name of a sender must be 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        return try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            guard !(try Self.keys(lines)).values.contains(name) else {
                throw SetupError(.alreadyExists, "a key with this name exists already")
            }
            let key = APIKey.make()
            lines.append(name: name, value: APIKey.hash(key))
            try show(key)
            return (lines.text, key)
        }
    }

    /// The names of the senders in the order of the file, each once.
    ///
    /// - Throws: ``SetupError``: `unreadable`, also if there is no file; `malformed`.
    package func list() throws -> [String] {
        let lines = try CredentialLines(try PrivateFile.existingText(path))
        _ = try Self.keys(lines)
        var seen: Set<String> = []
        return lines.entries.map(\.name).filter { seen.insert($0).inserted }
    }

    /// Removes all keys of a sender.
    ///
    /// - Throws: ``SetupError``: `notFound`, `malformed`, `unreadable`, `unwritable`.
    package func remove(_ name: String) throws {
        try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            guard lines.entries.contains(where: { $0.name == name }) else {
                throw SetupError(.notFound, "there is no key with this name")
            }
            lines.remove { $0.name == name }
            return (lines.text, ())
        }
    }

    /// The names of the senders by the hashes of their keys.
    static func keys(_ lines: CredentialLines) throws -> [String: String] {
        var names: [String: String] = [:]
        for entry in lines.entries {
            guard APIKey.isName(entry.name) else {
                throw SetupError(
                    .malformed, "the name of a sender must be 1 to 64 of A-Z a-z 0-9 . _ -", line: entry.line)
            }
            let hash = entry.value.lowercased()
            guard hash.utf8.count == 64, ByteSet.hexDigits.containsAll(hash) else {
                throw SetupError(.malformed, "the hash is not 64 hex digits", line: entry.line)
            }
            guard names.updateValue(entry.name, forKey: hash) == nil else {
                throw SetupError(.malformed, "the hash is repeated", line: entry.line)
            }
        }
        return names
    }
}

/// The secret of a sender: `spk_` and 32 random bytes in base64url.
///
/// It has 256 random bits and cannot be guessed. So a file can hold its plain SHA-256, without a slow hash.
enum APIKey {
    /// Lets people and secret scanners recognise the text.
    static let prefix = "spk_"

    static func make() -> String { prefix + Base64.encode(SystemRandomNumberGenerator.bytes(32), .url) }

    /// The SHA-256 of the key in lower-case hex, as in the file.
    static func hash(_ key: some StringProtocol) -> String { SHA256.hash(data: [UInt8](key.utf8)).hex }

    /// Whether the text can name a sender: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && nameBytes.containsAll(name)
    }

    private static let nameBytes = ByteSet.alphanumerics.union(ByteSet("._-"))
}

extension SystemRandomNumberGenerator {
    /// Cryptographically secure random bytes.
    static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}
