public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The public key of a device, with which senders encrypt for it: a point of P-256 as a JSON Web Key (RFC 7518, section
/// 6.2).
///
/// The device registers it with `PUT /api/devices/{installationId}/key`; a sender gets it from
/// `GET /api/recipients/{name}/keys`.
public struct EnvelopeKey: Sendable, Hashable {
    /// The uncompressed point: a byte 4, and 32 bytes each of x and y (SEC 1, section 2.3.3).
    public let x963Representation: Data

    /// Reads an uncompressed point.
    ///
    /// - Throws: ``EnvelopeError/malformedKey``, also for a point that is not on the curve.
    public init(x963Representation: Data) throws(EnvelopeError) {
        guard x963Representation.count == 65, x963Representation.first == 4,
            (try? P256.KeyAgreement.PublicKey(x963Representation: x963Representation)) != nil
        else { throw .malformedKey }
        self.x963Representation = Data(x963Representation)
    }

    /// Reads a JSON Web Key: `{"kty":"EC","crv":"P-256","x":"…","y":"…"}`, as strict JSON. Other members are ignored, but
    /// a private key is refused.
    ///
    /// - Throws: ``EnvelopeError/malformedKey``.
    public init(jwk: Data) throws(EnvelopeError) {
        guard jwk.count <= Self.maxBytes, let json = try? StrictJSON(jwk) else { throw .malformedKey }
        try self.init(json)
    }

    init(_ json: StrictJSON) throws(EnvelopeError) {
        guard json["kty"]?.text == "EC", json["crv"]?.text == "P-256", json["d"] == nil, json["k"] == nil,
            let x = json["x"]?.text.flatMap({ Base64URL.decode($0) }), x.count == 32,
            let y = json["y"]?.text.flatMap({ Base64URL.decode($0) }), y.count == 32
        else { throw .malformedKey }
        try self.init(x963Representation: [4] + x + y)
    }

    /// The JSON Web Key, with the members `kty`, `crv`, `x` and `y`.
    public var jwk: String { #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"# }

    /// The SHA-256 thumbprint (RFC 7638), 32 bytes.
    public var thumbprint: Data {
        Data(SHA256.hash(data: Data(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)))
    }

    /// The text that people compare: the first 16 bytes of the thumbprint as 8 groups of 4 hexadecimal digits.
    public var fingerprint: String { Self.fingerprint(of: thumbprint) }

    static func fingerprint(of thumbprint: Data) -> String {
        let digits = "0123456789abcdef".map { String($0) }
        let pairs = thumbprint.prefix(16).map { digits[Int($0 >> 4)] + digits[Int($0 & 15)] }
        return stride(from: 0, to: pairs.count - 1, by: 2).map { pairs[$0] + pairs[$0 + 1] }.joined(separator: " ")
    }

    private var x: String { Base64URL.encode(x963Representation[1..<33]) }
    private var y: String { Base64URL.encode(x963Representation[33..<65]) }

    /// The longest JSON Web Key, in bytes.
    static let maxBytes = 4 << 10
}

extension EnvelopeKey {
    /// The public key of a private one.
    init(_ key: P256.KeyAgreement.PublicKey) { x963Representation = key.x963Representation }
}
