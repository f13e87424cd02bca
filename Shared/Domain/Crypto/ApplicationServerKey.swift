import Foundations

/// The public key of a Web Push sender (RFC 8292): a browser binds a subscription to it, and only pushes that are
/// signed by its private key reach that subscription.
package struct ApplicationServerKey: Sendable, Hashable {
    /// The 65 bytes of the point in base64url without padding, as a page gives them to `PushManager.subscribe`.
    package let text: String

    /// - Parameter text: the uncompressed point (RFC 8292, section 3.2) in base64url without padding.
    /// - Returns: `nil` unless it is a point on P-256 in exactly this form.
    package init?(_ text: String) {
        guard text.utf8.count == 87, let bytes = Base64.decode(text, .url), let point = P256Point(bytes: bytes),
            point.isOnCurve
        else { return nil }
        self.text = text
    }
}
