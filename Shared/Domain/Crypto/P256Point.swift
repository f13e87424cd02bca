import Crypto
import Foundations

/// A public key on P-256 (FIPS 186-5), and its form as a JSON Web Key (RFC 7518, section 6.2; RFC 7638).
package struct P256Point: Sendable, Hashable {
    /// The uncompressed point: 0x04, then x and y of 32 bytes each (SEC 1, section 2.3.3).
    package let bytes: [UInt8]

    /// The length of ``bytes``.
    package static let length = 65

    /// The length of a coordinate in bytes.
    static let coordinateLength = 32

    /// A point of this form; see ``isOnCurve``.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes.first == 4 else { return nil }
        self.bytes = bytes
    }

    init(_ key: P256.Signing.PublicKey) { bytes = [UInt8](key.x963Representation) }

    /// Whether the bytes are a point of the curve. All of its points have the same prime order, so that no other check is
    /// needed (NIST SP 800-56A, section 5.6.2.3.3).
    package var isOnCurve: Bool { (try? P256.Signing.PublicKey(x963Representation: bytes)) != nil }

    /// The coordinates in base64url without padding, 43 characters each.
    private var x: String { Base64.encode(bytes[1..<33], .url) }
    private var y: String { Base64.encode(bytes[33...], .url) }

    /// The SHA-256 thumbprint of the key (RFC 7638): 32 bytes.
    var thumbprint: [UInt8] {
        // The required members in the order of their names, without blanks.
        [UInt8](SHA256.hash(data: Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)))
    }

    /// Writes the members of the key into an open object.
    func writeMembers(to json: inout JSONWriter) {
        json.member("kty", "EC")
        json.member("crv", "P-256")
        json.member("x", x)
        json.member("y", y)
    }

    /// Whether this key made the signature.
    ///
    /// - Parameter signature: the 64 bytes r‖s (RFC 7518, section 3.4).
    func isValid(_ signature: [UInt8], of text: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: bytes),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: text)
    }
}
