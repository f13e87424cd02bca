internal import Crypto
internal import Logging
internal import SecurePushCore

/// The users' password hashes as a file held them. They never change; their identity stands for them.
final class UserPasswords: Sendable {
    private struct Entry {
        let hash: ScryptHash
        let fingerprint: String
    }

    private let entries: [UserName: Entry]
    /// No user's, at the cost of the dearest of the file.
    private let unmatchable: ScryptHash
    /// How many users have a hash that is cheaper than those made here.
    let weakCount: Int

    /// - Throws: ``AuthenticationSetupError`` `malformed`, naming the line.
    init(_ text: String) throws {
        let hashes = try UsersFile.users(CredentialLines(text))
        entries = hashes.mapValues { Entry(hash: $0, fingerprint: Self.fingerprint($0)) }
        let dearest = hashes.values.map(\.parameters).max { $0.work < $1.work } ?? ScryptHash.Parameters()
        unmatchable = ScryptHash(unmatchable: dearest)
        weakCount = hashes.values.count { $0.parameters.work < ScryptHash.Parameters().work }
    }

    /// Whether the password is the user's.
    ///
    /// It takes the time of the dearest hash of the file for every name, whether or not there is such a user: else the
    /// time would tell which names are users.
    func matches(_ user: UserName, _ password: [UInt8]) -> Bool {
        let hash = entries[user]?.hash ?? unmatchable
        let isRight = hash.matches(password)
        for parameters in fillers(after: hash.parameters) {
            _ = ScryptHash(unmatchable: parameters).matches(password)
        }
        return isRight
    }

    /// What is computed after a hash of these parameters to take as long as the dearest: powers of two of N that add up
    /// to the difference.
    func fillers(after parameters: ScryptHash.Parameters) -> [ScryptHash.Parameters] {
        let dearest = unmatchable.parameters
        let rest = (dearest.work - parameters.work) / (dearest.blockSize * dearest.parallelism)
        return (1...17).filter { rest & (1 << $0) != 0 }.map { logCost in
            ScryptHash.Parameters(
                logCost: logCost, blockSize: dearest.blockSize, parallelism: dearest.parallelism)
        }
    }

    /// What binds a token to the user's entry: 128 bits of a hash of it, `nil` for an unknown user. It changes with the
    /// password, and tells nothing of it: the entry has a random salt that the token does not show.
    func fingerprint(of user: UserName) -> String? { entries[user]?.fingerprint }

    private static func fingerprint(_ hash: ScryptHash) -> String {
        let digest = SHA256.hash(data: Array("securepush-user-v1\n\(hash.text)".utf8))
        return Base64.encode(digest.prefix(16), .url)
    }
}

extension UserPasswords {
    /// `AUTH_USERS_FILE`, read again when it changes.
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
            return users
        }
    }
}
