internal import Crypto
internal import CryptoExtras
internal import SecurePushCore

extension VerificationKey {
    /// Why a key of a set is left out.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Reads a JSON Web Key (RFC 7517, 7518, 8037); of a private key only the public part is read.
    init(jwk: JSONValue) throws {
        if let use = jwk["use"], use.text != "sig" { throw Unusable("its use is not sig") }
        if let operations = jwk["key_ops"]?.elements, !operations.contains(where: { $0.text == "verify" }) {
            throw Unusable("its key_ops hold no verify")
        }
        let (material, algorithms) = try Self.material(jwk)
        if let keyID = jwk["kid"], keyID.text == nil { throw Unusable("its kid is not a string") }
        keyID = jwk["kid"]?.text
        self.material = material
        guard let named = jwk["alg"] else {
            self.algorithms = algorithms
            return
        }
        // RFC 9864 names the algorithm of Ed25519 by its curve.
        let algorithm = named.text == "Ed25519" ? .edDSA : named.text.flatMap(SignatureAlgorithm.init)
        guard let algorithm, Self.fits(algorithm, material, algorithms) else {
            throw Unusable("its alg is not one of its kind and size")
        }
        self.algorithms = [algorithm]
    }

    private static func fits(
        _ algorithm: SignatureAlgorithm, _ material: Material, _ algorithms: Set<SignatureAlgorithm>
    ) -> Bool {
        guard case .secret(let key) = material else { return algorithms.contains(algorithm) }
        // RFC 7518, section 3.2: a key is at least as long as the hash.
        return switch algorithm {
        case .hs256: key.bitCount >= 256
        case .hs384: key.bitCount >= 384
        case .hs512: key.bitCount >= 512
        default: false
        }
    }

    private static func material(_ jwk: JSONValue) throws -> (Material, Set<SignatureAlgorithm>) {
        switch jwk["kty"]?.text {
        case "RSA":
            (.rsa(try rsa(jwk)), [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        case "EC": try curve(jwk)
        case "OKP":
            (.ed25519(try edwards(jwk)), [.edDSA])
        case "oct": (.secret(try secret(jwk)), [.hs256])
        default: throw Unusable("its kty is not known")
        }
    }

    private static func rsa(_ jwk: JSONValue) throws -> _RSA.Signing.PublicKey {
        let modulus = Array(try bytes(jwk["n"], "n").drop { $0 == 0 })
        let exponent = try bytes(jwk["e"], "e")
        guard (256...1024).contains(modulus.count), exponent.count <= 4 else {
            throw Unusable("its modulus is not of 2048 to 8192 bits, or its exponent too large")
        }
        do {
            return try _RSA.Signing.PublicKey(n: modulus, e: exponent)
        } catch {
            throw Unusable("it is not an RSA key of 2048 bits or more")
        }
    }

    private static func curve(_ jwk: JSONValue) throws -> (Material, Set<SignatureAlgorithm>) {
        let x = try bytes(jwk["x"], "x")
        let y = try bytes(jwk["y"], "y")
        do {
            switch (jwk["crv"]?.text, x.count, y.count) {
            case ("P-256", 32, 32): return (.p256(try P256.Signing.PublicKey(rawRepresentation: x + y)), [.es256])
            case ("P-384", 48, 48): return (.p384(try P384.Signing.PublicKey(rawRepresentation: x + y)), [.es384])
            case ("P-521", 66, 66): return (.p521(try P521.Signing.PublicKey(rawRepresentation: x + y)), [.es512])
            default: throw Unusable("its crv is not known, or its point not of the curve's size")
            }
        } catch let error as Unusable {
            throw error
        } catch {
            throw Unusable("its point is not on the curve")
        }
    }

    private static func edwards(_ jwk: JSONValue) throws -> Curve25519.Signing.PublicKey {
        guard jwk["crv"]?.text == "Ed25519" else { throw Unusable("its crv is not Ed25519") }
        let x = try bytes(jwk["x"], "x")
        guard x.count == 32 else { throw Unusable("its x is not 32 bytes") }
        return try Curve25519.Signing.PublicKey(rawRepresentation: x)
    }

    private static func secret(_ jwk: JSONValue) throws -> SymmetricKey {
        let secret = try bytes(jwk["k"], "k")
        guard secret.count >= 32 else { throw Unusable("its k is shorter than 32 bytes") }
        return SymmetricKey(data: secret)
    }

    private static func bytes(_ value: JSONValue?, _ name: String) throws -> [UInt8] {
        guard let text = value?.text, let bytes = Base64.decode(text, .url), !bytes.isEmpty else {
            throw Unusable("its \(name) is not base64url")
        }
        return bytes
    }
}
