internal import Crypto
package import Domain
import Foundations
internal import Logging

/// The file of the users' passwords (`AUTH_USERS_FILE`), with one `USERNAME scrypt-hash` per line.
///
/// In USERNAME blanks, tabs, `%`, `#` and a byte order mark are percent-encoded. Other characters may be too. The hash
/// has the form of ``PasswordHash``. A user has one line. Edits are atomic and leave the file with the mode 0600.
package struct UsersFile: Sendable {
    package let path: String

    /// The file at a path; it need not exist yet.
    package init(path: String) { self.path = path }

    /// Whether a user of this name can log in: Basic credentials end the name at the first colon (RFC 7617, section 2).
    package static func canLogIn(_ user: UserName) -> Bool { !user.text.utf8.contains(UInt8(ascii: ":")) }

    /// Adds a user, and makes the file if there is none.
    ///
    /// - Parameter replacing: whether an existing user gets this password; otherwise that is an error.
    /// - Returns: whether the user existed.
    /// - Throws: ``SetupError``: `invalidName`, `alreadyExists`, `invalid`, `malformed`, `unreadable`,
    ///   `unwritable`.
    @discardableResult
    package func add(_ user: UserName, password: String, replacing: Bool = false) throws -> Bool {
        guard Self.canLogIn(user) else {
            throw SetupError(
                .invalidName, "the name of a user who logs in with a password cannot have a colon")
        }
        let hash = try PasswordHash.make(password: password)
        return try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            let isKnown = try Self.users(lines)[user] != nil
            if isKnown {
                guard replacing else {
                    throw SetupError(.alreadyExists, "a user with this name exists already")
                }
                lines.remove { Self.decode($0.name) == user }
            }
            lines.append(name: Self.encode(user), value: hash)
            return (lines.text, isKnown)
        }
    }

    /// The users in the order of the file.
    ///
    /// - Throws: ``SetupError``: `unreadable`, also if there is no file; `malformed`.
    package func list() throws -> [UserName] {
        let lines = try CredentialLines(try PrivateFile.existingText(path))
        _ = try Self.users(lines)
        return lines.entries.compactMap { Self.decode($0.name) }
    }

    /// Removes a user.
    ///
    /// - Throws: ``SetupError``: `notFound`, `malformed`, `unreadable`, `unwritable`.
    package func remove(_ user: UserName) throws {
        try PrivateFile.edit(path) { text in
            var lines = try CredentialLines(text ?? "")
            guard try Self.users(lines)[user] != nil else {
                throw SetupError(.notFound, "there is no user with this name")
            }
            lines.remove { Self.decode($0.name) == user }
            return (lines.text, ())
        }
    }

    static func users(_ lines: CredentialLines) throws -> [UserName: ScryptHash] {
        var users: [UserName: ScryptHash] = [:]
        for entry in lines.entries {
            guard let user = decode(entry.name) else {
                throw SetupError(.malformed, "the name cannot be that of a user", line: entry.line)
            }
            let hash: ScryptHash
            do { hash = try ScryptHash(entry.value) } catch let error as SetupError {
                throw SetupError(.malformed, error.message, line: entry.line)
            }
            guard users.updateValue(hash, forKey: user) == nil else {
                throw SetupError(.malformed, "the user is repeated", line: entry.line)
            }
        }
        return users
    }

    /// What would end the name, begin a comment, or be dropped at the beginning of the file.
    private static let escapes: [Unicode.Scalar: String] = [
        " ": "%20", "\t": "%09", "%": "%25", "#": "%23", "\u{FEFF}": "%EF%BB%BF",
    ]

    static func encode(_ user: UserName) -> String {
        user.text.unicodeScalars.reduce(into: "") { text, scalar in
            if let escape = escapes[scalar] { text += escape } else { text.unicodeScalars.append(scalar) }
        }
    }

    static func decode(_ text: String) -> UserName? { PercentCoding.decode(text).flatMap(UserName.init) }
}

/// The password hashes of one version of the file. They never change, and the identity of the object stands for them.
final class UserPasswords: Sendable {
    private struct Entry {
        let hash: ScryptHash
        let fingerprint: String
    }

    private let entries: [UserName: Entry]
    /// A hash that no password has, with the cost of the most expensive hash of the file.
    private let unmatchable: ScryptHash
    /// The number of users whose hash is cheaper than those of ``PasswordHash``.
    let weakCount: Int
    /// The number of users whose names have a colon.
    let colonCount: Int

    /// - Throws: ``SetupError`` `malformed` with the number of the line.
    init(_ text: String) throws {
        let hashes = try UsersFile.users(CredentialLines(text))
        entries = hashes.mapValues { Entry(hash: $0, fingerprint: Self.fingerprint($0)) }
        let costliest = hashes.values.map(\.parameters).max { $0.work < $1.work } ?? ScryptHash.Parameters()
        unmatchable = ScryptHash(unmatchable: costliest)
        weakCount = hashes.values.count { $0.parameters.work < ScryptHash.Parameters().work }
        colonCount = hashes.keys.count { !UsersFile.canLogIn($0) }
    }

    /// Whether the password is that of the user.
    ///
    /// Every try takes the time of the most expensive hash of the file, even for an unknown name. Otherwise the time
    /// would reveal which names are those of users.
    func matches(_ user: UserName, _ password: [UInt8]) -> Bool {
        PasswordHash.spellings(of: password).contains { isRight(user, $0) }
    }

    private func isRight(_ user: UserName, _ password: [UInt8]) -> Bool {
        let hash = entries[user]?.hash ?? unmatchable
        let isRight = hash.matches(password)
        for parameters in fillers(after: hash.parameters) {
            _ = ScryptHash(unmatchable: parameters).matches(password)
        }
        return isRight
    }

    /// The hashes to compute after one with these parameters, so that all together take as long as the most expensive
    /// hash: powers of two of N that add up to the difference.
    func fillers(after parameters: ScryptHash.Parameters) -> [ScryptHash.Parameters] {
        let costliest = unmatchable.parameters
        let rest = (costliest.work - parameters.work) / (costliest.blockSize * costliest.parallelism)
        return (1...17).filter { rest & (1 << $0) != 0 }.map { logCost in
            ScryptHash.Parameters(
                logCost: logCost, blockSize: costliest.blockSize, parallelism: costliest.parallelism)
        }
    }

    /// Binds a token to the user's entry: 128 bits of a hash of the entry; `nil` for an unknown user. It changes with
    /// the password and reveals nothing about it, because the entry has a random salt that is not in the token.
    func fingerprint(of user: UserName) -> String? { entries[user]?.fingerprint }

    private static func fingerprint(_ hash: ScryptHash) -> String {
        let digest = SHA256.hash(data: Array("securepush-user-v1\n\(hash.text)".utf8))
        return Base64.encode(digest.prefix(16), .url)
    }
}

extension UserPasswords {
    /// The file of `AUTH_USERS_FILE`, which is read again when it changes.
    static func file(
        _ path: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws(FileError) -> ReloadingFile<UserPasswords> {
        try ReloadingFile(credentials: path, logger: logger, now: now) { text in
            let users = try UserPasswords(text)
            if users.weakCount > 0 {
                logger.warning(
                    "Users have password hashes that are cheaper to guess than N = 2^14, r = 8, p = 1",
                    metadata: ["users": "\(users.weakCount)"])
            }
            if users.colonCount > 0 {
                logger.warning(
                    "Users whose names have a colon can never log in with a password; remove them",
                    metadata: ["users": "\(users.colonCount)"])
            }
            return users
        }
    }
}
