/// The file of the senders' API keys (`INGEST_API_KEYS_FILE`): `NAME sha256hex` a line, the hash that of the key's
/// text.
///
/// NAME is 1 to 64 of `A-Z a-z 0-9 . _ -`. A name may have several lines, so that a new key can be handed out before
/// the old one's line is deleted; a hash may be there once. Edits are atomic and leave the file with mode 0600.
public struct APIKeysFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// Makes a key for a new sender, and the file when there is none.
    ///
    /// - Returns: the key. This is the one time it can be seen: the file holds its hash only.
    /// - Throws: ``AuthenticationSetupError``: `invalidName`, `alreadyExists`, `malformed`, `unreadable`, `unwritable`.
    public func add(_ name: String) throws -> String {
        guard APIKey.isName(name) else {
            throw AuthenticationSetupError(.invalidName, "a sender's name is 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        return try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            guard !(try Self.keys(lines)).values.contains(name) else {
                throw AuthenticationSetupError(.alreadyExists, "there is a key of this name")
            }
            let key = APIKey.make()
            lines.append(name: name, value: APIKey.hash(key))
            return (lines.text, key)
        }
    }

    /// The senders' names in the order of the file, each once.
    ///
    /// - Throws: ``AuthenticationSetupError``: `unreadable` also when there is no file; `malformed`.
    public func list() throws -> [String] {
        guard let text = try PrivateFile.read(path) else {
            throw AuthenticationSetupError(.unreadable, "there is no file \(path)")
        }
        let lines = try CredentialLines(text)
        _ = try Self.keys(lines)
        var seen: Set<String> = []
        return lines.entries.map(\.name).filter { seen.insert($0).inserted }
    }

    /// Removes every key of a sender.
    ///
    /// - Throws: ``AuthenticationSetupError``: `notFound`, `malformed`, `unreadable`, `unwritable`.
    public func remove(_ name: String) throws {
        try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            guard lines.entries.contains(where: { $0.name == name }) else {
                throw AuthenticationSetupError(.notFound, "there is no key of this name")
            }
            lines.remove { $0.name == name }
            return (lines.text, ())
        }
    }

    /// The senders' names by the hashes of their keys.
    static func keys(_ lines: CredentialLines) throws -> [String: String] {
        var names: [String: String] = [:]
        for entry in lines.entries {
            guard APIKey.isName(entry.name) else {
                throw AuthenticationSetupError(
                    .malformed, "a sender's name is 1 to 64 of A-Z a-z 0-9 . _ -", line: entry.line)
            }
            let hash = entry.value.lowercased()
            guard hash.utf8.count == 64, hash.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                throw AuthenticationSetupError(.malformed, "the hash is not 64 hex digits", line: entry.line)
            }
            guard names.updateValue(entry.name, forKey: hash) == nil else {
                throw AuthenticationSetupError(.malformed, "the same hash is there twice", line: entry.line)
            }
        }
        return names
    }
}
