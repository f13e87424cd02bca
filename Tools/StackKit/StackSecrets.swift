import Crypto
import Domain
package import Foundation
import Foundations

/// The keys of a private stack: made at random, and written to the files that the services read.
package struct StackSecrets: Sendable {
    /// The sender's key. Services only get its hash.
    package let apiKey = "spk_" + UUID().uuidString
    /// Found in every payload of a run and nowhere else, so that a search finds payloads that leaked.
    package let marker = "canary" + UUID().uuidString.replacing("-", with: "")
    /// A key of the hub's access rule, base64.
    package let hubKey = Self.randomBytes(32).base64EncodedString()
    /// The name of the sender in the API key file.
    package let sender: String
    private let tokenSecret = Self.randomBytes(32)
    private let pushKey = PushSigningKey()
    private let webPushKey = P256.Signing.PrivateKey()

    package init(sender: String) { self.sender = sender }

    /// The settings that name the files of ``write(to:)``, relative to their folder.
    package static let settings = [
        "PAYLOAD_KEYS_FILE": "payload-keys", "INGEST_API_KEYS_FILE": "api-keys", "AUTH_JWKS_FILE": "jwks.json",
    ]

    /// Writes the key ring, the API key file, the JWKS and the keys of pushes, readable for this user only.
    package func write(to folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try write("payload-keys", PayloadKeyRing.newLine(), folder)
        try write("api-keys", "\(sender) \(SHA256.hash(data: Data(apiKey.utf8)).hex)", folder)
        try write("push-signing-key.pem", pushKey.pem, folder)
        try write("push-keys.json", pushKeys, folder)
        let secret = Base64.encode(tokenSecret, .url)
        try write("jwks.json", #"{"keys":[{"kty":"oct","alg":"HS256","k":"\#(secret)"}]}"#, folder)
    }

    /// The private key of a Web Push sender (VAPID) as PKCS #8 in PEM, and its public key in base64url.
    package var webPushKeyPEM: String { webPushKey.pemRepresentation }
    package var webPushPublicKey: String { Base64.encode(webPushKey.publicKey.x963Representation, .url) }

    /// The JWK Set that verifies signed pushes.
    package var pushKeys: String { PushVerificationKeys(pushKey.publicKey).jwks }

    /// A user's token, signed with HS256 (RFC 7515).
    ///
    /// - Parameter seconds: how long it is valid; a negative number for one that has expired.
    package func token(of user: String, validFor seconds: Int64 = 86_400) -> String {
        let claims = #"{"sub":"\#(user)","exp":\#(Timestamp.now.seconds + seconds)}"#
        let signed = Base64.encode(#"{"alg":"HS256"}"#.utf8, .url) + "." + Base64.encode(claims.utf8, .url)
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: tokenSecret))
        return signed + "." + Base64.encode(code, .url)
    }

    /// A payload that holds the marker and a number.
    package func payload(_ number: Int) -> String { "\(marker):\(number)" }

    /// The number in a payload that ``payload(_:)`` made, otherwise `nil`.
    package func number(of payload: String) -> Int? {
        guard payload.hasPrefix(marker + ":") else { return nil }
        return Int(payload.dropFirst(marker.count + 1))
    }

    /// Writes a file that only this user can read.
    package func write(_ name: String, _ text: String, _ folder: URL) throws {
        let url = folder.appending(path: name)
        try Data((text + "\n").utf8).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    private static func randomBytes(_ count: Int) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max) })
    }
}
