internal import Logging
internal import SecurePushCore

/// The keys of one JSON Web Key Set (RFC 7517, section 5). A set never changes; its identity stands for its keys.
final class VerificationKeySet: Sendable {
    let keys: [VerificationKey]

    init(keys: [VerificationKey]) { self.keys = keys }

    /// Keys that cannot be used here (another use or kind, too small) are left out and logged.
    ///
    /// - Throws: ``AuthenticationSetupError`` `malformed` when the text is no key set, or none of its keys can be used.
    init(jwks: [UInt8], logger: Logger) throws {
        guard let document = try? JSONValue(strict: jwks), let elements = document["keys"]?.elements else {
            throw AuthenticationSetupError(.malformed, "not a JSON Web Key Set")
        }
        var keys: [VerificationKey] = []
        for (index, element) in elements.enumerated() {
            do {
                guard element.members != nil else { throw VerificationKey.Unusable("it is not an object") }
                keys.append(try VerificationKey(jwk: element))
            } catch {
                logger.warning(
                    "A key of the key set is left out", metadata: ["index": "\(index)", "reason": "\(error)"])
            }
        }
        guard !keys.isEmpty else {
            throw AuthenticationSetupError(.malformed, "the key set holds no key that can be used")
        }
        self.keys = keys
    }

    /// The keys that a token with this header may be signed by: of its `kid`, or all that fit when it has none.
    func candidates(_ header: JSONWebToken.Header) -> [VerificationKey] {
        keys.filter { key in
            key.algorithms.contains(header.algorithm)
                && header.keyID.map { keyID in key.keyID?.utf8.elementsEqual(keyID.utf8) ?? false } ?? true
        }
    }

    /// Whether there is a key of this ID, for whatever algorithm.
    func holds(_ keyID: String) -> Bool {
        keys.contains { $0.keyID?.utf8.elementsEqual(keyID.utf8) ?? false }
    }
}

/// Where keys come from. Both give the same instance while the keys do not change.
struct VerificationKeySource: Sendable {
    /// The keys as they were known to be a moment ago; cheap.
    let current: @Sendable () -> VerificationKeySet?
    /// The keys after another look.
    let refreshed: @Sendable () -> VerificationKeySet?
    /// Whether what they come from can be used: where not, a token may be good although no key fits.
    let isUsable: @Sendable () -> Bool
}
