public import SecurePushCore

/// The file of the users' passwords (`AUTH_USERS_FILE`): `USERNAME scrypt-hash` a line.
///
/// In USERNAME blanks, tabs, `%` and `#` are written `%20`, `%09`, `%25` and `%23`; other characters may be written
/// so too, by the bytes of their UTF-8 form. The hash is of the form that ``PasswordHash`` makes. A user has one
/// line. Edits are atomic and leave the file with mode 0600.
public struct UsersFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// Adds a user, and makes the file when there is none.
    ///
    /// - Parameter replacing: whether a user who is there already gets this password; else that is an error.
    /// - Throws: ``AuthenticationSetupError``: `alreadyExists`, `invalid`, `malformed`, `unreadable`, `unwritable`.
    public func add(_ user: UserName, password: String, replacing: Bool = false) throws {
        let hash = try PasswordHash.make(password: password)
        try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            if try Self.users(lines)[user] != nil {
                guard replacing else {
                    throw AuthenticationSetupError(.alreadyExists, "there is a user of this name")
                }
                lines.remove { Self.decode($0.name) == user }
            }
            lines.append(name: Self.encode(user), value: hash)
            return (lines.text, ())
        }
    }

    /// The users in the order of the file.
    ///
    /// - Throws: ``AuthenticationSetupError``: `unreadable` also when there is no file; `malformed`.
    public func list() throws -> [UserName] {
        guard let text = try PrivateFile.read(path) else {
            throw AuthenticationSetupError(.unreadable, "there is no file \(path)")
        }
        let lines = try CredentialLines(text)
        _ = try Self.users(lines)
        return lines.entries.compactMap { Self.decode($0.name) }
    }

    /// - Throws: ``AuthenticationSetupError``: `notFound`, `malformed`, `unreadable`, `unwritable`.
    public func remove(_ user: UserName) throws {
        try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            guard try Self.users(lines)[user] != nil else {
                throw AuthenticationSetupError(.notFound, "there is no user of this name")
            }
            lines.remove { Self.decode($0.name) == user }
            return (lines.text, ())
        }
    }

    static func users(_ lines: CredentialLines) throws -> [UserName: ScryptHash] {
        var users: [UserName: ScryptHash] = [:]
        for entry in lines.entries {
            guard let user = decode(entry.name) else {
                throw AuthenticationSetupError(.malformed, "not a user's name", line: entry.line)
            }
            let hash: ScryptHash
            do { hash = try ScryptHash(entry.value) } catch let error as AuthenticationSetupError {
                throw AuthenticationSetupError(.malformed, error.message, line: entry.line)
            }
            guard users.updateValue(hash, forKey: user) == nil else {
                throw AuthenticationSetupError(.malformed, "the same user is there twice", line: entry.line)
            }
        }
        return users
    }

    private static let escapes: [UInt8: String] = [0x20: "%20", 0x09: "%09", 0x25: "%25", 0x23: "%23"]

    static func encode(_ user: UserName) -> String {
        var bytes: [UInt8] = []
        for byte in user.text.utf8 {
            if let escape = escapes[byte] { bytes += escape.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func decode(_ text: String) -> UserName? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
                let escaped = UInt8(Substring(digits), radix: 16)
            else { return nil }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self).flatMap(UserName.init)
    }
}
