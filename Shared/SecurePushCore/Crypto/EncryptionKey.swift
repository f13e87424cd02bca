import Crypto

/// The public key with which senders encrypt for one device: an X25519 key (RFC 7748) as a JSON Web Key (RFC 8037).
///
/// The private key never leaves the device. This program stores public keys, and neither encrypts nor decrypts with
/// them.
package struct EncryptionKey: Sendable, Hashable {
    /// The 32 bytes of the key: its u-coordinate, little-endian.
    package let x: [UInt8]

    /// The length of a key in bytes.
    package static let length = 32

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

extension EncryptionKey {
    /// Reads a JSON Web Key, and notes every mistake in it. Unknown members are ignored (RFC 7517, section 4); those of
    /// private and symmetric keys are refused.
    ///
    /// - Returns: `nil` if an issue was noted.
    package init?(_ json: inout JSONObjectReader) {
        guard json.root.kind == .object else {
            _ = json.object(json.root, known: [])
            return nil
        }
        let issues = json.issues.count
        let members = json.freeMembers(of: json.root, at: "")
        var x: [UInt8]?
        for member in members {
            switch member.name {
            case "kty": Self.expect("OKP", member, &json)
            case "crv": Self.expect("X25519", member, &json)
            case "x": x = Self.x(member, &json)
            case _ where Self.privateMembers.contains(member.name):
                json.note(
                    member.pointer,
                    "This key is private or secret. Make a new key pair on the device, and send only kty, crv and x.")
            default: break
            }
        }
        for name in ["kty", "crv", "x"] where !members.contains(where: { $0.name == name }) {
            json.note("/\(name)", "The member is required.")
        }
        guard json.issues.count == issues, let x else { return nil }
        self.init(x: x)
    }

    /// The members of private and symmetric keys (RFC 7518, section 6; RFC 8037, section 2).
    private static let privateMembers: Set = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    private static func expect(_ value: String, _ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        guard let text = json.string(member.value, at: member.pointer), text != value else { return }
        json.note(member.pointer, "The value must be \(value): device keys are X25519 keys (RFC 8037).")
    }

    private static func x(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) -> [UInt8]? {
        guard let text = json.string(member.value, at: member.pointer) else { return nil }
        guard let bytes = Base64.decode(text, .url), let key = EncryptionKey(x: bytes) else {
            json.note(member.pointer, "The value must be 32 bytes in base64url without padding.")
            return nil
        }
        guard !key.isLowOrder else {
            json.note(member.pointer, "The key is a point of low order, which protects nothing. Make a new key pair.")
            return nil
        }
        return bytes
    }
}

/// The public key of a device, as its user registered it.
package struct DeviceEncryptionKey: Sendable, Hashable {
    /// The ID of the installation, in the spelling that the store has.
    package var deviceID: String
    /// The key.
    package var key: EncryptionKey
    /// When the device registered this key. A repetition with the same key keeps the time.
    package var createdAt: Timestamp

    /// Makes an entry.
    package init(deviceID: String, key: EncryptionKey, createdAt: Timestamp) {
        self.deviceID = deviceID
        self.key = key
        self.createdAt = createdAt
    }
}
