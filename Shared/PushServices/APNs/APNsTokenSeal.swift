import Crypto
import Domain
import Foundations

/// Encrypts the tokens of a key for the store. A token is a password for an hour, so read access to the database must
/// not suffice to get it. The secret is derived from the key, so only a process that can make tokens can open one.
struct APNsTokenSeal: Sendable {
    /// Names the key in the store. It says nothing about the key.
    let name: String
    private let secret: SymmetricKey

    init(_ configuration: APNsConfiguration) {
        let identity = "apns \(configuration.teamID) \(configuration.keyID) "
        name = Array(SHA256.hash(data: Array(identity.utf8) + configuration.key.publicPoint).prefix(16)).hex
        secret = configuration.key.secret(for: "securepush-apns-token-v1")
    }

    func close(_ text: String, issuedAt: Timestamp) throws -> SharedPushToken {
        let box = try AES.GCM.seal(Array(text.utf8), using: secret, authenticating: context(issuedAt))
        // Nonce, text and tag: always there for a nonce of 12 bytes.
        guard let bytes = box.combined else { throw SetupError(.invalid, "The token cannot be sealed.") }
        return SharedPushToken(issuedAt: issuedAt, sealed: Array(bytes))
    }

    /// - Returns: `nil` for a token that this key has not sealed.
    func open(_ token: SharedPushToken) -> String? {
        guard let box = try? AES.GCM.SealedBox(combined: token.sealed),
            let bytes = try? AES.GCM.open(box, using: secret, authenticating: context(token.issuedAt))
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return ByteSet.visible.union(ByteSet(" ")).containsAll(text) ? text : nil
    }

    private func context(_ issuedAt: Timestamp) -> [UInt8] { Array("\(name) \(issuedAt.milliseconds)".utf8) }
}
