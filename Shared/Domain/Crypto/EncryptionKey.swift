import Crypto
package import Foundations

/// The public key with which senders encrypt for one device: an X25519 key (RFC 7748) as a JSON Web Key (RFC 8037).
///
/// The private key never leaves the device. This program stores public keys, and neither encrypts nor decrypts with
/// them.
package struct EncryptionKey: Sendable, Hashable {
    /// The 32 bytes of the key: its u-coordinate, little-endian.
    package let x: [UInt8]

    /// The length of a key in bytes.
    package static let length = 32

    /// The members of private and symmetric JSON Web Keys (RFC 7518, section 6; RFC 8037, section 2).
    static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// A key from its bytes; `nil` unless there are ``length`` of them. See ``isLowOrder``.
    package init?(x: [UInt8]) {
        guard x.count == Self.length else { return nil }
        self.x = x
    }

    /// Whether the key is a point of low order. The shared secret with such a key is the same for everybody, so a
    /// content key that is wrapped for it is not protected (RFC 7748, section 6.1; RFC 9180, section 7.1.4).
    ///
    /// The scalar of an agreement is a multiple of 8, the order that such points have at most. So an agreement with any
    /// private key shows it: its result is zero. Some versions of the library return that, others throw.
    package var isLowOrder: Bool {
        let scalar = [UInt8](repeating: 1, count: Self.length)
        guard let agreement = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: scalar),
            let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: x),
            let secret = try? agreement.sharedSecretFromKeyAgreement(with: key)
        else { return true }
        return secret.withUnsafeBytes { bytes in bytes.allSatisfy { $0 == 0 } }
    }

    /// Writes the key as a JSON Web Key: only its public members, without blanks.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("kty", "OKP")
            json.member("crv", "X25519")
            json.member("x", Base64.encode(x, .url))
        }
    }

    /// The key as a JSON Web Key: `{"kty":"OKP","crv":"X25519","x":"…"}`.
    package var jwk: String {
        var json = JSONWriter(capacity: 96)
        write(to: &json)
        return json.text
    }
}

extension JSONRule<EncryptionKey> {
    /// A JSON Web Key. Unknown members are ignored (RFC 7517, section 4); those of private and symmetric keys are
    /// refused. Names are compared byte for byte.
    package static var publicKey: JSONRule {
        JSONRule { json in
            guard json.expect(.object) else { return nil }
            var missing: [StaticString] = ["kty", "crv", "x"]
            var key: EncryptionKey?
            json.freeMembers { name, json in
                missing.removeAll { $0.description == name }
                switch name {
                case "kty": _ = json.read(.ofDeviceKeys("OKP"))
                case "crv": _ = json.read(.ofDeviceKeys("X25519"))
                case "x": key = json.read(.x)
                case _ where EncryptionKey.privateMembers.contains(name):
                    json.note(
                        "This key is private or secret. Make a new key pair on the device, and send only kty, crv and "
                            + "x.")
                default: break
                }
            }
            for name in missing { json.note("The member is required.", at: name) }
            return key
        }
    }

    private static var x: JSONRule {
        JSONRule { json in
            let bytes = JSONRule.string("The value must be 32 bytes in base64url without padding.") { text in
                Base64.decode(text, .url).flatMap { EncryptionKey(x: $0) }
            }
            guard let key = json.read(bytes) else { return nil }
            guard !key.isLowOrder else {
                json.note("The key is a point of low order, which protects nothing. Make a new key pair.")
                return nil
            }
            return key
        }
    }
}

extension JSONRule<String> {
    fileprivate static func ofDeviceKeys(_ value: String) -> JSONRule {
        .text { $0 == value ? nil : "The value must be \(value): device keys are X25519 keys (RFC 8037)." }
    }
}

/// The public key of a device, as its user registered it.
package struct DeviceEncryptionKey: Sendable, Hashable {
    /// The ID of the installation, in the spelling that the store has.
    package var deviceID: String
    package var key: EncryptionKey
    /// When the device registered this key. A repetition with the same key keeps the time.
    package var createdAt: Timestamp

    package init(deviceID: String, key: EncryptionKey, createdAt: Timestamp) {
        self.deviceID = deviceID
        self.key = key
        self.createdAt = createdAt
    }
}
