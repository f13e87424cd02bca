import Crypto
public import Foundation
import SecurePushCore

/// The keys of a private stack: made at random, and written to the files that the services read.
public struct StackSecrets: Sendable {
    /// The sender's key. Services only get its hash.
    public let apiKey = "spk_" + UUID().uuidString
    /// Found in every payload of a run and nowhere else, so that a search finds payloads that leaked.
    public let marker = "canary" + UUID().uuidString.replacing("-", with: "")
    /// A key of the hub's access rule, base64.
    public let hubKey = Self.randomBytes(32).base64EncodedString()
    /// The name of the sender in the API key file.
    public let sender: String
    private let tokenSecret = Self.randomBytes(32)
    private let pushKey = Curve25519.Signing.PrivateKey()

    public init(sender: String) { self.sender = sender }

    /// The settings that name the files of ``write(to:)``, relative to their folder.
    public static let settings = [
        "PAYLOAD_KEYS_FILE": "payload-keys", "INGEST_API_KEYS_FILE": "api-keys", "AUTH_JWKS_FILE": "jwks.json",
    ]

    /// Writes the key ring, the API key file, the JWKS and the keys of pushes, readable for this user only.
    public func write(to folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try write("payload-keys", PayloadKeyRing.newLine(), folder)
        try write("api-keys", "\(sender) \(SHA256.hash(data: Data(apiKey.utf8)).hex)", folder)
        // PKCS#8 (RFC 8410, section 7): a fixed prefix and the 32 bytes of the seed.
        let prefix = Data([0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20])
        let pem = (prefix + pushKey.rawRepresentation).base64EncodedString()
        try write("push-signing-key.pem", "-----BEGIN PRIVATE KEY-----\n\(pem)\n-----END PRIVATE KEY-----", folder)
        try write("push-keys.json", pushKeys, folder)
        try write("jwks.json", #"{"keys":[{"kty":"oct","alg":"HS256","k":"\#(Self.base64URL(tokenSecret))"}]}"#, folder)
    }

    /// The JWK Set that verifies signed pushes (RFC 8037).
    public var pushKeys: String {
        let value = Self.base64URL(pushKey.publicKey.rawRepresentation)
        return #"{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":"1","use":"sig","x":"\#(value)"}]}"#
    }

    /// A user's token, signed with HS256 (RFC 7515).
    ///
    /// - Parameter seconds: how long it is valid; a negative number for one that has expired.
    public func token(of user: String, validFor seconds: Int64 = 86_400) -> String {
        let claims = #"{"sub":"\#(user)","exp":\#(Timestamp.now.seconds + seconds)}"#
        let signed = Self.base64URL(Data(#"{"alg":"HS256"}"#.utf8)) + "." + Self.base64URL(Data(claims.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: tokenSecret))
        return signed + "." + Self.base64URL(Data(code))
    }

    /// A payload that holds the marker and a number.
    public func payload(_ number: Int) -> String { "\(marker):\(number)" }

    /// The number in a payload that ``payload(_:)`` made, otherwise `nil`.
    public func number(of payload: String) -> Int? {
        guard payload.hasPrefix(marker + ":") else { return nil }
        return Int(payload.dropFirst(marker.count + 1))
    }

    private func write(_ name: String, _ text: String, _ folder: URL) throws {
        let url = folder.appending(path: name)
        try Data((text + "\n").utf8).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    private static func randomBytes(_ count: Int) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Without padding (RFC 4648, section 5).
    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
