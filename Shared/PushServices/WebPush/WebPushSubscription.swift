import Crypto
import Foundations

/// The keys of a browser's or a UnifiedPush app's subscription (RFC 8291, section 2).
package struct WebPushSubscription: Sendable {
    let publicKey: P256.KeyAgreement.PublicKey
    /// The point of `publicKey`, 65 bytes, uncompressed.
    let publicPoint: [UInt8]
    /// 16 bytes.
    let authSecret: [UInt8]

    /// Why keys cannot be used. The texts do not repeat the keys.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case p256dh, auth

        package var description: String {
            switch self {
            case .p256dh: "p256dh is not a point on P-256: 65 bytes in base64url"
            case .auth: "auth is not 16 bytes in base64url"
            }
        }
    }

    /// Reads the keys: base64url as browsers write it, with or without padding, or plain Base64.
    package init(p256dh: String, auth: String) throws(Problem) {
        guard let point = Self.decode(p256dh), point.count == 65, point[0] == 4,
            // The library checks that the point is on the curve.
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: point)
        else { throw .p256dh }
        guard let secret = Self.decode(auth), secret.count == 16 else { throw .auth }
        publicKey = key
        publicPoint = point
        authSecret = secret
    }

    /// Keys have at most 88 digits.
    private static func decode(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8.prefix(89))
        guard digits.count <= 88 else { return nil }
        if digits.count % 4 == 0 {
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        let isURL = digits.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        return Base64.decode(String(decoding: digits, as: UTF8.self), isURL ? .url : .unpadded)
    }
}
