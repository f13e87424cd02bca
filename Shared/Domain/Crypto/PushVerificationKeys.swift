import Crypto
package import Foundations

/// A public key with which a device verifies pushes: an Ed25519 key as a JSON Web Key (RFC 8037).
package struct PushVerificationKey: Sendable, Hashable {
    /// The `kid`. A key that has none in its file gets its thumbprint (RFC 7638).
    package let keyID: String
    /// The 32 bytes of the key.
    let x: [UInt8]

    init(x: [UInt8], keyID: String? = nil) {
        self.x = x
        self.keyID = keyID ?? Self.thumbprint(x)
    }

    /// Whether the signature is valid for a push with these values.
    package func isValid(
        _ signature: PushSignature, of id: NotificationID, recipient: UserName, withdraw: Bool = false
    ) -> Bool {
        guard let bytes = Base64.decode(signature.signature, .url),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x)
        else { return false }
        let text = PushSignature.signedText(
            id, recipient: recipient, timestamp: signature.timestamp, withdraw: withdraw)
        return key.isValidSignature(bytes, for: text)
    }

    /// The required members in the order of their names and without blanks (RFC 7638, RFC 8037 section 2).
    private static func thumbprint(_ x: [UInt8]) -> String {
        let members = #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64.encode(x, .url))"}"#
        return Base64.encode(SHA256.hash(data: Array(members.utf8)), .url)
    }
}

/// The public keys with which devices verify pushes (`PUSH_VERIFICATION_KEYS_FILE`), as a JSON Web Key Set.
package struct PushVerificationKeys: Sendable, Hashable {
    /// The keys in the order of the file; at least one. The first is the newest.
    package private(set) var keys: [PushVerificationKey]

    /// The maximum number of keys. A device tries them one after another.
    package static let maxKeys = 32

    package init(_ key: PushVerificationKey) { keys = [key] }

    /// Reads a set. Everything in it is public, so a private key is refused, and so is every other kind of key.
    ///
    /// - Parameter jwks: a JSON Web Key Set (RFC 7517, section 5).
    /// - Throws: ``SetupError``, which holds nothing of the text.
    package init(jwks: String) throws(SetupError) {
        guard let document = try? JSONValue(strict: Array(jwks.utf8)), let elements = document["keys"]?.elements
        else {
            throw SetupError(.malformed, "not a JSON Web Key Set. Make one with `securepush keys generate --push`.")
        }
        guard (1...Self.maxKeys).contains(elements.count) else {
            throw SetupError(.malformed, "the set has \(elements.count) keys. It must have 1 to \(Self.maxKeys).")
        }
        keys = []
        for (index, element) in elements.enumerated() {
            do throws(SetupError) {
                keys.append(try Self.key(element))
            } catch {
                throw SetupError(.malformed, "key \(index + 1) \(error.message)")
            }
        }
    }

    private static func key(_ jwk: JSONValue) throws(SetupError) -> PushVerificationKey {
        guard !EncryptionKey.privateMembers.contains(where: { jwk[$0] != nil }) else {
            throw SetupError(
                .malformed, "is private or secret. Remove it, and replace the key: everybody can read this set.")
        }
        guard jwk["kty"]?.text == "OKP", jwk["crv"]?.text == "Ed25519" else {
            throw SetupError(.malformed, "is not an Ed25519 key (kty OKP, crv Ed25519).")
        }
        guard let x = jwk["x"]?.text.flatMap({ Base64.decode($0, .url) }), x.count == 32 else {
            throw SetupError(.malformed, "has no x of 32 bytes in base64url.")
        }
        if let use = jwk["use"], use.text != "sig" { throw SetupError(.malformed, "has a use that is not sig.") }
        if let algorithm = jwk["alg"], algorithm.text != "EdDSA", algorithm.text != "Ed25519" {
            throw SetupError(.malformed, "has an alg that is not EdDSA.")
        }
        if let keyID = jwk["kid"] {
            guard let text = keyID.text, (1...128).contains(text.utf8.count) else {
                throw SetupError(.malformed, "has a kid that is not a string of 1 to 128 bytes.")
            }
            return PushVerificationKey(x: x, keyID: text)
        }
        return PushVerificationKey(x: x)
    }

    /// Puts a key first and keeps the others, up to ``maxKeys`` in all. A key that is in the set already moves.
    package func adding(_ key: PushVerificationKey) -> PushVerificationKeys {
        var changed = self
        changed.keys = Array(([key] + keys.filter { $0.x != key.x }).prefix(Self.maxKeys))
        return changed
    }

    /// The newest keys.
    ///
    /// - Parameter count: at least 1.
    package func keeping(_ count: Int) -> PushVerificationKeys {
        var changed = self
        changed.keys = Array(keys.prefix(max(1, count)))
        return changed
    }

    /// Whether one of the keys is that of the signature.
    package func isValid(
        _ signature: PushSignature, of id: NotificationID, recipient: UserName, withdraw: Bool = false
    ) -> Bool {
        keys.contains { $0.isValid(signature, of: id, recipient: recipient, withdraw: withdraw) }
    }

    /// The set as JSON, only with the members that this program knows.
    package var jwks: String {
        var json = JSONWriter()
        json.object { json in
            json.array("keys") { json in
                for key in keys {
                    json.object { json in
                        json.member("kty", "OKP")
                        json.member("crv", "Ed25519")
                        json.member("x", Base64.encode(key.x, .url))
                        json.member("kid", key.keyID)
                        json.member("use", "sig")
                        json.member("alg", "EdDSA")
                    }
                }
            }
        }
        return json.text
    }
}
