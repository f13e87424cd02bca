import Crypto
import Foundation

/// What PostgreSQL keeps of a password (RFC 5803 and PostgreSQL's manual, pg_authid), so that the password itself never
/// crosses to the server, which may write statements to its log.
enum ScramVerifier {
    private static let iterations = 4096

    /// - Parameter password: ASCII, so that no normalisation (SASLprep) is needed.
    static func text(_ password: String, salt: Data = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) })
        -> String
    {
        let salted = SymmetricKey(data: salted(password, salt))
        let client = Data(HMAC<SHA256>.authenticationCode(for: Data("Client Key".utf8), using: salted))
        let stored = Data(SHA256.hash(data: client)).base64EncodedString()
        let server = Data(HMAC<SHA256>.authenticationCode(for: Data("Server Key".utf8), using: salted))
        return "SCRAM-SHA-256$\(iterations):\(salt.base64EncodedString())$\(stored):\(server.base64EncodedString())"
    }

    /// `Hi` of RFC 5802, which is PBKDF2 with HMAC-SHA-256 and one block.
    private static func salted(_ password: String, _ salt: Data) -> [UInt8] {
        let key = SymmetricKey(data: Data(password.utf8))
        var block = Array(HMAC<SHA256>.authenticationCode(for: salt + Data([0, 0, 0, 1]), using: key))
        var sum = block
        for _ in 1..<iterations {
            block = Array(HMAC<SHA256>.authenticationCode(for: block, using: key))
            for index in sum.indices { sum[index] ^= block[index] }
        }
        return sum
    }
}
