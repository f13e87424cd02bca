package import Foundations

/// A public key with which a device verifies pushes: a key on P-256 as a JSON Web Key.
package struct PushVerificationKey: Sendable, Hashable {
    /// The `kid`. A key that has none in its file gets its thumbprint (RFC 7638).
    package let keyID: String
    let point: P256Point

    init(point: P256Point, keyID: String? = nil) {
        self.point = point
        self.keyID = keyID ?? Base64.encode(point.thumbprint, .url)
    }

    /// Whether the signature is valid for a push with these values.
    package func isValid(
        _ signature: PushSignature, of id: NotificationID, recipient: UserName, withdraw: Bool = false
    ) -> Bool {
        guard let bytes = Base64.decode(signature.signature, .url) else { return false }
        return point.isValid(
            bytes,
            of: PushSignature.signedText(
                id, recipient: recipient, timestamp: signature.timestamp, withdraw: withdraw))
    }
}

/// The public keys with which devices verify pushes (`PUSH_VERIFICATION_KEYS_FILE`), as a JSON Web Key Set.
package struct PushVerificationKeys: Sendable, Hashable {
    /// The keys in the order of the file; at least one. The first is the newest.
    package private(set) var keys: [PushVerificationKey]

    /// The maximum number of keys. A device tries them one after another.
    package static let maxKeys = 32

    package init(_ key: PushVerificationKey) { keys = [key] }

    /// Reads a set. Everything in it is public, so a private key is refused. Keys of other kinds are skipped, as devices
    /// do. A key on P-256 that devices could not read is a mistake, and refused.
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
                if let key = try Self.key(element) { keys.append(key) }
            } catch {
                throw SetupError(.malformed, "key \(index + 1) \(error.message)")
            }
        }
        guard !keys.isEmpty else {
            throw SetupError(
                .malformed, "the set has no key on P-256. Make one with `securepush keys generate --push`.")
        }
    }

    /// - Returns: `nil` for a key of another kind.
    private static func key(_ jwk: JSONValue) throws(SetupError) -> PushVerificationKey? {
        guard jwk.members != nil else { throw SetupError(.malformed, "is not an object.") }
        guard !EncryptionKey.privateMembers.contains(where: { jwk[$0] != nil }) else {
            throw SetupError(
                .malformed, "is private or secret. Remove it, and replace the key: everybody can read this set.")
        }
        guard jwk["kty"]?.text == "EC", jwk["crv"]?.text == "P-256" else { return nil }
        guard let x = coordinate(jwk, "x"), let y = coordinate(jwk, "y") else {
            throw SetupError(.malformed, "has no x and y of 32 bytes in base64url.")
        }
        guard let point = P256Point(bytes: [4] + x + y), point.isOnCurve else {
            throw SetupError(.malformed, "is not a point on P-256.")
        }
        if let use = jwk["use"], use.text != "sig" { throw SetupError(.malformed, "has a use that is not sig.") }
        if let algorithm = jwk["alg"], algorithm.text != "ES256" {
            throw SetupError(.malformed, "has an alg that is not ES256.")
        }
        guard let keyID = jwk["kid"] else { return PushVerificationKey(point: point) }
        guard let text = keyID.text, (1...128).contains(text.utf8.count) else {
            throw SetupError(.malformed, "has a kid that is not a string of 1 to 128 bytes.")
        }
        return PushVerificationKey(point: point, keyID: text)
    }

    private static func coordinate(_ jwk: JSONValue, _ name: String) -> [UInt8]? {
        guard let bytes = jwk[name]?.text.flatMap({ Base64.decode($0, .url) }) else { return nil }
        return bytes.count == P256Point.coordinateLength ? bytes : nil
    }

    /// Puts a key first and keeps the others, up to ``maxKeys`` in all. A key that is in the set already moves.
    package func adding(_ key: PushVerificationKey) -> PushVerificationKeys {
        var changed = self
        changed.keys = Array(([key] + keys.filter { $0.point != key.point }).prefix(Self.maxKeys))
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
                        key.point.writeMembers(to: &json)
                        json.member("kid", key.keyID)
                        json.member("use", "sig")
                        json.member("alg", "ES256")
                    }
                }
            }
        }
        return json.text
    }
}
