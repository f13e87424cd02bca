internal import Domain
internal import Foundations
internal import JWTKit
internal import Logging
internal import Synchronization

/// The signature algorithms of JSON Web Tokens that are accepted (RFC 7518, RFC 8037). `none` is not one of them.
enum SignatureAlgorithm: String, CaseIterable, Sendable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"

    /// The algorithm of a name in a token or key. RFC 9864 names the algorithm of Ed25519 after its curve.
    init?(name: String) { self.init(rawValue: name == "Ed25519" ? "EdDSA" : name) }

    /// The size of the hash in bits.
    fileprivate var digestBits: Int {
        switch self {
        case .hs256, .rs256, .ps256, .es256: 256
        case .hs384, .rs384, .ps384, .es384: 384
        case .hs512, .rs512, .ps512, .es512, .edDSA: 512
        }
    }

    fileprivate var digest: DigestAlgorithm {
        switch digestBits {
        case 256: .sha256
        case 384: .sha384
        default: .sha512
        }
    }
}

/// A key that verifies tokens, and the algorithms that it may be used with.
///
/// jwt-kit parses the key and checks signatures. The policy is ours: the algorithm is a property of the key, so that a
/// token cannot choose another one (RFC 8725, section 3.1).
final class VerificationKey: Sendable {
    /// The key, as jwt-kit holds it.
    enum Material: Sendable {
        case rsa(Insecure.RSA.PublicKey)
        case p256(ES256PublicKey)
        case p384(ES384PublicKey)
        case p521(ES512PublicKey)
        case ed25519(EdDSA.PublicKey)
        case secret(HMACKey, bits: Int)
    }

    /// The `kid`.
    let keyID: String?
    let algorithms: Set<SignatureAlgorithm>
    private let material: Material
    /// jwt-kit's algorithms of this key, each made when the first token needs it.
    private let verifiers = Mutex<[SignatureAlgorithm: any JWTAlgorithm]>([:])

    init(keyID: String?, material: Material, algorithms: Set<SignatureAlgorithm>) {
        self.keyID = keyID
        self.material = material
        self.algorithms = algorithms
    }

    /// Whether the bytes were signed by this key with this algorithm.
    func isValid(_ signature: [UInt8], of bytes: [UInt8], with algorithm: SignatureAlgorithm) async -> Bool {
        guard algorithms.contains(algorithm), let verifier = await verifier(algorithm) else { return false }
        // jwt-kit throws for a signature that does not have the length of its algorithm.
        return (try? verifier.verify(signature, signs: bytes)) ?? false
    }

    /// jwt-kit gives out its algorithms only through an actor, so the first token waits for it. Later ones do not.
    private func verifier(_ algorithm: SignatureAlgorithm) async -> (any JWTAlgorithm)? {
        if let verifier = verifiers.withLock({ $0[algorithm] }) { return verifier }
        let keys = JWTKeyCollection()
        switch (material, algorithm) {
        case (.rsa(let key), .rs256), (.rsa(let key), .rs384), (.rsa(let key), .rs512):
            await keys.add(rsa: key, digestAlgorithm: algorithm.digest)
        case (.rsa(let key), .ps256), (.rsa(let key), .ps384), (.rsa(let key), .ps512):
            await keys.add(pss: key, digestAlgorithm: algorithm.digest)
        case (.p256(let key), .es256): await keys.add(ecdsa: key)
        case (.p384(let key), .es384): await keys.add(ecdsa: key)
        case (.p521(let key), .es512): await keys.add(ecdsa: key)
        case (.ed25519(let key), .edDSA): await keys.add(eddsa: key)
        case (.secret(let key, _), .hs256), (.secret(let key, _), .hs384), (.secret(let key, _), .hs512):
            await keys.add(hmac: key, digestAlgorithm: algorithm.digest)
        default: return nil
        }
        guard let verifier = try? await keys.getKey() else { return nil }
        verifiers.withLock { $0[algorithm] = verifier }
        return verifier
    }
}

// MARK: - JSON Web Keys

extension VerificationKey {
    /// Why a key of a set is left out.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Reads a JSON Web Key (RFC 7517, 7518, 8037). Only the public part of a private key is read.
    ///
    /// jwt-kit's own `JWK` is not used: it has no symmetric keys (`oct`), ignores `use` and `key_ops`, and decodes a
    /// member that is repeated, or base64url that is not canonical. So the members are read here, and jwt-kit gets the
    /// numbers of the key.
    convenience init(jwk: JSONValue) throws {
        if let use = jwk.member("use"), use.text != "sig" { throw Unusable("its use is not sig") }
        if let operations = jwk.member("key_ops")?.elements, !operations.contains(where: { $0.text == "verify" }) {
            throw Unusable("its key_ops do not include verify")
        }
        let (material, algorithms) = try Self.material(jwk)
        if let keyID = jwk.member("kid"), keyID.text == nil { throw Unusable("its kid is not a string") }
        guard let named = jwk.member("alg") else {
            self.init(keyID: jwk["kid"]?.text, material: material, algorithms: algorithms)
            return
        }
        guard let algorithm = named.text.flatMap(SignatureAlgorithm.init(name:)),
            Self.fits(algorithm, material, algorithms)
        else { throw Unusable("its alg does not fit its kind and size") }
        self.init(keyID: jwk["kid"]?.text, material: material, algorithms: [algorithm])
    }

    private static func fits(
        _ algorithm: SignatureAlgorithm, _ material: Material, _ algorithms: Set<SignatureAlgorithm>
    ) -> Bool {
        guard case .secret(_, let bits) = material else { return algorithms.contains(algorithm) }
        // A key is at least as long as the hash (RFC 7518, section 3.2).
        return [.hs256, .hs384, .hs512].contains(algorithm) && bits >= algorithm.digestBits
    }

    private static func material(_ jwk: JSONValue) throws -> (Material, Set<SignatureAlgorithm>) {
        switch jwk["kty"]?.text {
        case "RSA": (.rsa(try rsa(jwk)), [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        case "EC": try curve(jwk)
        case "OKP": (.ed25519(try edwards(jwk)), [.edDSA])
        case "oct": try secret(jwk)
        default: throw Unusable("its kty is not known")
        }
    }

    private static func rsa(_ jwk: JSONValue) throws -> Insecure.RSA.PublicKey {
        let modulus = try bytes(jwk, "n").drop { $0 == 0 }
        let exponent = try bytes(jwk, "e")
        guard (256...1024).contains(modulus.count), exponent.count <= 4 else {
            throw Unusable("its modulus does not have 2048 to 8192 bits, or its exponent is too large")
        }
        do {
            return try Insecure.RSA.PublicKey(
                modulus: Base64.encode(modulus, .url), exponent: Base64.encode(exponent, .url))
        } catch {
            throw Unusable("it is not an RSA key of 2048 bits or more")
        }
    }

    private static func curve(_ jwk: JSONValue) throws -> (Material, Set<SignatureAlgorithm>) {
        let (x, y) = (try bytes(jwk, "x"), try bytes(jwk, "y"))
        let point = (x: Base64.encode(x, .url), y: Base64.encode(y, .url))
        do {
            switch (jwk["crv"]?.text, x.count, y.count) {
            case ("P-256", 32, 32): return (.p256(try ES256PublicKey(parameters: point)), [.es256])
            case ("P-384", 48, 48): return (.p384(try ES384PublicKey(parameters: point)), [.es384])
            case ("P-521", 66, 66): return (.p521(try ES512PublicKey(parameters: point)), [.es512])
            default: throw Unusable("its crv is not known, or its point does not have the size of the curve")
            }
        } catch let error as Unusable {
            throw error
        } catch {
            throw Unusable("its point is not on the curve")
        }
    }

    private static func edwards(_ jwk: JSONValue) throws -> EdDSA.PublicKey {
        guard jwk["crv"]?.text == "Ed25519" else { throw Unusable("its crv is not Ed25519") }
        let x = try bytes(jwk, "x")
        guard x.count == 32 else { throw Unusable("its x does not have 32 bytes") }
        return try EdDSA.PublicKey(x: Base64.encode(x, .url), curve: .ed25519)
    }

    private static func secret(_ jwk: JSONValue) throws -> (Material, Set<SignatureAlgorithm>) {
        let secret = try bytes(jwk, "k")
        guard secret.count >= 32 else { throw Unusable("its k is shorter than 32 bytes") }
        return (.secret(HMACKey(from: secret), bits: secret.count * 8), [.hs256])
    }

    private static func bytes(_ jwk: JSONValue, _ name: String) throws -> [UInt8] {
        guard let text = jwk[name]?.text, let bytes = Base64.decode(text, .url), !bytes.isEmpty else {
            throw Unusable("its \(name) is not base64url")
        }
        return bytes
    }
}

// MARK: - Key sets

/// The keys of one JSON Web Key Set (RFC 7517, section 5). A set never changes, and its identity stands for its keys.
final class VerificationKeySet: Sendable {
    let keys: [VerificationKey]

    init(keys: [VerificationKey]) { self.keys = keys }

    /// Reads a set. Keys that cannot be used here (another use or kind, too small) are left out and logged.
    ///
    /// - Throws: ``SetupError`` `malformed` if the text is not a key set, or if none of its keys can be
    ///   used.
    init(jwks: [UInt8], logger: Logger) throws {
        // Servers of static files send a document as an editor saved it.
        let mark = OutsideText.byteOrderMark
        let jwks = jwks.starts(with: mark) ? Array(jwks.dropFirst(mark.count)) : jwks
        guard let document = try? JSONValue(strict: jwks), let elements = document["keys"]?.elements else {
            throw SetupError(.malformed, "not a JSON Web Key Set")
        }
        var keys: [VerificationKey] = []
        for (index, element) in elements.enumerated() {
            do {
                guard element.members != nil else { throw VerificationKey.Unusable("it is not an object") }
                keys.append(try VerificationKey(jwk: element))
            } catch {
                logger.warning(
                    "A key of the key set is left out",
                    metadata: ["index": "\(index)", "reason": "\(ErrorText.describe(error))"])
            }
        }
        guard !keys.isEmpty else {
            throw SetupError(.malformed, "the key set has no key that can be used")
        }
        self.keys = keys
    }

    /// The keys that may have signed a token with this header: those with its `kid`, or, if it has none, all keys for
    /// its algorithm.
    func candidates(_ header: JSONWebToken.Header) -> [VerificationKey] {
        keys.filter { key in
            key.algorithms.contains(header.algorithm)
                && header.keyID.map { keyID in key.keyID?.utf8.elementsEqual(keyID.utf8) ?? false } ?? true
        }
    }

    /// Whether there is a key with this ID, for any algorithm.
    func contains(keyID: String) -> Bool {
        keys.contains { $0.keyID?.utf8.elementsEqual(keyID.utf8) ?? false }
    }
}

/// A source of keys. ``current`` and ``refreshed`` return the same instance while the keys do not change.
struct VerificationKeySource: Sendable {
    /// The last known keys; cheap.
    let current: @Sendable () -> VerificationKeySet?
    /// The keys after checking for a change.
    let refreshed: @Sendable () async -> VerificationKeySet?
    /// Whether the source can be used. If not, a token may be valid although no key fits.
    let isUsable: @Sendable () -> Bool
    /// The claim that names the user in the tokens of these keys.
    var userClaim = TokenClaims.ownUserClaim
}
