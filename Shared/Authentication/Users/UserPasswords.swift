internal import SecurePushCore

/// The users' password hashes as a file held them. They never change; their identity stands for them.
final class UserPasswords: Sendable {
    private let hashes: [UserName: ScryptHash]
    private let unmatchable: ScryptHash

    /// - Throws: ``AuthenticationSetupError`` `malformed`, naming the line.
    init(_ text: String) throws {
        let lines = try CredentialLines(text)
        hashes = try UsersFile.users(lines)
        let parameters = lines.entries.first.flatMap { try? ScryptHash($0.value).parameters }
        unmatchable = ScryptHash(unmatchable: parameters ?? ScryptHash.Parameters())
    }

    /// Whether the password is the user's. It takes the same time for a user who is not there.
    func matches(_ user: UserName, _ password: [UInt8]) -> Bool {
        (hashes[user] ?? unmatchable).matches(password)
    }
}
