package import Foundations

/// The public key with which senders encrypt for one device: a point on P-256, as a JSON Web Key (RFC 7518, section
/// 6.2).
///
/// The private key never leaves the device. This program stores public keys, and neither encrypts nor decrypts with
/// them.
package struct EncryptionKey: Sendable, Hashable {
    private let point: P256Point

    /// The uncompressed point: 0x04, then x and y of 32 bytes each; 65 bytes.
    package var bytes: [UInt8] { point.bytes }

    /// The members of private and symmetric JSON Web Keys (RFC 7518, section 6).
    static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// A key from ``bytes``; `nil` unless they have this form. The rule ``JSONRule/publicKey`` checks also that the point
    /// is on the curve.
    package init?(point bytes: [UInt8]) {
        guard let point = P256Point(bytes: bytes) else { return nil }
        self.point = point
    }

    fileprivate var isOnCurve: Bool { point.isOnCurve }

    /// Writes the key as a JSON Web Key: only its public members, without blanks.
    package func write(to json: inout JSONWriter) {
        json.object { json in point.writeMembers(to: &json) }
    }

    /// The key as a JSON Web Key: `{"kty":"EC","crv":"P-256","x":"…","y":"…"}`.
    package var jwk: String {
        var json = JSONWriter(capacity: 144)
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
            var missing: [StaticString] = ["kty", "crv", "x", "y"]
            var x: [UInt8]?
            var y: [UInt8]?
            json.freeMembers { name, json in
                missing.removeAll { $0.description == name }
                switch name {
                case "kty": _ = json.read(.ofDeviceKeys("EC"))
                case "crv": _ = json.read(.ofDeviceKeys("P-256"))
                case "x": x = json.read(.coordinate)
                case "y": y = json.read(.coordinate)
                case _ where EncryptionKey.privateMembers.contains(name):
                    json.note(
                        "This key is private or secret. Make a new key pair on the device, and send only kty, crv, x "
                            + "and y.")
                default: break
                }
            }
            for name in missing { json.note("The member is required.", at: name) }
            guard let x, let y, let key = EncryptionKey(point: [4] + x + y) else { return nil }
            guard key.isOnCurve else {
                json.note("The point is not on the curve P-256.", at: "x")
                return nil
            }
            return key
        }
    }
}

extension JSONRule<[UInt8]> {
    fileprivate static var coordinate: JSONRule {
        .string("The value must be 32 bytes in base64url without padding.") { text in
            Base64.decode(text, .url).flatMap { $0.count == P256Point.coordinateLength ? $0 : nil }
        }
    }
}

extension JSONRule<String> {
    fileprivate static func ofDeviceKeys(_ value: String) -> JSONRule {
        .text { $0 == value ? nil : "The value must be \(value): device keys are on P-256 (RFC 7518, section 6.2)." }
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
