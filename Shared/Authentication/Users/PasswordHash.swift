/// Hashes of passwords: scrypt (RFC 7914) with N = 2^14, r = 8, p = 1, 16 MiB and some tens of milliseconds each.
public enum PasswordHash {
    /// - Parameter password: at least one byte of UTF-8, and no control characters: Basic credentials carry none
    ///   (RFC 7617, section 2).
    /// - Returns: `$scrypt$ln=14,r=8,p=1$SALT$HASH`, salt and hash in base64 without padding (PHC string format).
    /// - Throws: ``AuthenticationSetupError`` `invalid` for a password that cannot be used.
    public static func make(password: String) throws -> String {
        guard (1...1024).contains(password.utf8.count), !password.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            throw AuthenticationSetupError(
                .invalid, "a password is 1 to 1,024 bytes of text without control characters")
        }
        return try ScryptHash(password: Array(password.utf8)).text
    }

    /// Whether the hash is that of the password. It blocks the thread while it computes.
    ///
    /// - Throws: ``AuthenticationSetupError`` `malformed` when the hash has no usable form.
    public static func verify(_ password: String, _ hash: String) throws -> Bool {
        try ScryptHash(hash).matches(Array(password.utf8))
    }
}
