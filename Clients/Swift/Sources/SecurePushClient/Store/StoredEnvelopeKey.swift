import Foundation
import SecurePushEnvelope

/// The device's key for end-to-end encryption, as stores keep it.
struct StoredEnvelopeKey: Codable {
    /// The bytes, in base64url.
    private let privateKey: String

    init(_ key: EnvelopePrivateKey) { privateKey = Base64URL.encode(key.rawRepresentation) }

    /// `nil` if the stored key is damaged. A new one takes its place.
    var value: EnvelopePrivateKey? {
        Base64URL.decode(privateKey).flatMap { try? EnvelopePrivateKey(rawRepresentation: $0) }
    }
}
