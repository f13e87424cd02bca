internal import Crypto
internal import CryptoExtras
internal import Domain
internal import Foundation
internal import Foundations

/// Password hashes: scrypt (RFC 7914) with N = 2^14, r = 8, p = 1. Each takes 16 MiB and some tens of milliseconds.
package enum PasswordHash {
    /// Hashes a password in Unicode's form C, so that it does not matter how a device composes letters (RFC 7617,
    /// section 2.1).
    ///
    /// - Parameter password: at least one byte of UTF-8 and no control characters, which Basic credentials cannot have
    ///   (RFC 7617, section 2).
    /// - Returns: `$scrypt$ln=14,r=8,p=1$SALT$HASH`, salt and hash in base64 without padding (PHC string format).
    /// - Throws: ``SetupError`` `invalid` for a password that cannot be used.
    package static func make(password: String) throws -> String {
        guard (1...1024).contains(password.utf8.count), !password.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            throw SetupError(
                .invalid, "a password must be 1 to 1,024 bytes of text without control characters")
        }
        return try ScryptHash(password: spellings(of: Array(password.utf8))[0]).text
    }

    /// Form C of a password, and the bytes as given if they differ: earlier versions hashed those.
    static func spellings(of password: [UInt8]) -> [[UInt8]] {
        // Only letters with marks have several forms, and none of those are ASCII.
        guard password.contains(where: { $0 >= 0x80 }) else { return [password] }
        // Foundation composes a Hangul syllable and its final consonant only if both were decomposed before.
        let decomposed = String(decoding: password, as: UTF8.self).decomposedStringWithCanonicalMapping
        let composed = Array(decomposed.precomposedStringWithCanonicalMapping.utf8)
        return composed == password ? [password] : [composed, password]
    }

    /// Whether the hash is that of the password. Blocks the thread while it computes.
    ///
    /// - Throws: ``SetupError`` `malformed` if the hash does not have a valid form.
    package static func verify(_ password: String, _ hash: String) throws -> Bool {
        let hash = try ScryptHash(hash)
        return spellings(of: Array(password.utf8)).contains { hash.matches($0) }
    }
}

/// The scrypt hash of a password (RFC 7914) in PHC string form: `$scrypt$ln=14,r=8,p=1$SALT$HASH`, both base64
/// unpadded.
struct ScryptHash: Sendable, Equatable {
    struct Parameters: Sendable, Equatable {
        /// The logarithm to base 2 of the cost N.
        var logCost = 14
        /// The block size r. Memory is 128 * r * N bytes: 16 MiB by default.
        var blockSize = 8
        /// The parallelism p.
        var parallelism = 1

        /// The cost, N times r times p. It is bounded if ``isAcceptable``.
        var work: Int { (blockSize * parallelism) << logCost }

        /// Whether a hash in a file may have these parameters: at most 128 MiB and some seconds.
        var isAcceptable: Bool {
            (1...17).contains(logCost) && (1...32).contains(blockSize) && (1...16).contains(parallelism)
                && blockSize << logCost <= 1 << 20 && (blockSize * parallelism) << logCost <= 1 << 22
        }
    }

    let parameters: Parameters
    let salt: [UInt8]
    let hash: [UInt8]

    /// Hashes a password with a new salt.
    init(password: [UInt8], parameters: Parameters = Parameters()) throws {
        let salt = SystemRandomNumberGenerator.bytes(16)
        let key = try Self.derive(password, salt: salt, parameters: parameters, byteCount: 32)
        self.parameters = parameters
        self.salt = salt
        self.hash = key.withUnsafeBytes { Array($0) }
    }

    /// A hash that no password has. An unknown user takes the same time as a known one with it.
    init(unmatchable parameters: Parameters) {
        self.parameters = parameters
        salt = SystemRandomNumberGenerator.bytes(16)
        hash = SystemRandomNumberGenerator.bytes(32)
    }

    /// Reads a PHC string.
    ///
    /// - Throws: ``SetupError`` `malformed` with the mistake in the text.
    init(_ text: String) throws {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0].isEmpty, fields[1] == "scrypt" else {
            throw Self.malformed("the hash does not have the form $scrypt$ln=14,r=8,p=1$salt$hash")
        }
        parameters = try Self.parameters(fields[2])
        guard let salt = Base64.decode(fields[3], .unpadded), (8...64).contains(salt.count) else {
            throw Self.malformed("the salt is not 8 to 64 bytes in base64 without padding")
        }
        guard let hash = Base64.decode(fields[4], .unpadded), (16...64).contains(hash.count) else {
            throw Self.malformed("the hash is not 16 to 64 bytes in base64 without padding")
        }
        self.salt = salt
        self.hash = hash
    }

    /// The PHC string.
    var text: String {
        let (ln, r, p) = (parameters.logCost, parameters.blockSize, parameters.parallelism)
        return "$scrypt$ln=\(ln),r=\(r),p=\(p)$\(Base64.encode(salt, .unpadded))$\(Base64.encode(hash, .unpadded))"
    }

    /// Whether this is the password. Takes tens of milliseconds and the memory of the parameters.
    func matches(_ password: [UInt8]) -> Bool {
        guard let key = try? Self.derive(password, salt: salt, parameters: parameters, byteCount: hash.count) else {
            return false
        }
        // Keys are compared in constant time.
        return key == SymmetricKey(data: hash)
    }

    static func derive(
        _ password: [UInt8], salt: [UInt8], parameters: Parameters, byteCount: Int
    ) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: password, salt: salt, outputByteCount: byteCount, rounds: 1 << parameters.logCost,
            blockSize: parameters.blockSize, parallelism: parameters.parallelism)
    }

    private static func parameters(_ text: Substring) throws -> Parameters {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 3, let ln = number("ln=", fields[0]), let r = number("r=", fields[1]),
            let p = number("p=", fields[2])
        else { throw malformed("the parameters do not have the form ln=14,r=8,p=1") }
        let parameters = Parameters(logCost: ln, blockSize: r, parallelism: p)
        guard parameters.isAcceptable else { throw malformed("the parameters are too large, or 0") }
        return parameters
    }

    private static func number(_ prefix: String, _ field: Substring) -> Int? {
        let digits = field.utf8.dropFirst(prefix.utf8.count)
        guard field.hasPrefix(prefix), (1...3).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int(Substring(digits))
    }

    private static func malformed(_ message: String) -> SetupError {
        SetupError(.malformed, message)
    }
}
