import Crypto
import Domain
import Foundations
import Testing

struct EncryptionKeyTests {
    private static let good = "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"

    private func read(_ text: String) throws -> (key: EncryptionKey?, issues: [MemberIssues.Issue]) {
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
            var json = try JSONObjectReader(bytes)
            let key = json.read(.publicKey)
            return (json.issues.isEmpty ? key : nil, json.issues)
        }
    }

    /// The points of order 1, 2, 4 and 8 (https://cr.yp.to/ecdh.html), in all encodings below 2^255.
    static let lowOrderPoints = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]

    private static func bytes(_ hex: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = hex[...]
        while let pair = Optional(rest.prefix(2)), !pair.isEmpty {
            bytes.append(UInt8(pair, radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// The top bit of a key is ignored (RFC 7748, section 5), so each point has a second encoding.
    @Test(arguments: lowOrderPoints) func `Points of low order are refused`(_ hex: String) throws {
        for mask in [0, 0x80] as [UInt8] {
            var bytes = Self.bytes(hex)
            bytes[31] |= mask
            let key = try #require(EncryptionKey(x: bytes))
            #expect(key.isLowOrder)
            let result = try read(#"{"kty":"OKP","crv":"X25519","x":"\#(Base64.encode(bytes, .url))"}"#)
            #expect(result.key == nil)
            #expect(result.issues.map(\.pointer) == ["/x"])
        }
    }

    @Test func `Keys that libraries make are good`() throws {
        for _ in 0..<100 {
            let made = [UInt8](Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation)
            let key = try #require(EncryptionKey(x: made))
            #expect(!key.isLowOrder)
            let result = try read(key.jwk)
            #expect(result.key == key && result.issues.isEmpty)
        }
        // RFC 7748, section 6.1.
        #expect(try read(#"{"kty":"OKP","crv":"X25519","x":"\#(Self.good)"}"#).key?.jwk.contains(Self.good) == true)
    }

    @Test func `What platforms add to a key is ignored`() throws {
        let more = #""key_ops":[],"ext":true,"kid":"1","alg":"ECDH-ES""#
        let exported = #"{\#(more),"kty":"OKP","crv":"X25519","x":"\#(Self.good)"}"#
        let result = try read(exported)
        #expect(result.issues.isEmpty)
        #expect(result.key?.jwk == #"{"kty":"OKP","crv":"X25519","x":"\#(Self.good)"}"#)
    }

    @Test(arguments: [
        (#"{}"#, ["/kty", "/crv", "/x"]),
        (#"[]"#, [""]),
        (#"null"#, [""]),
        (#"{"kty":"EC","crv":"X25519","x":"GOOD"}"#, ["/kty"]),
        (#"{"kty":"okp","crv":"X25519","x":"GOOD"}"#, ["/kty"]),
        (#"{"kty":1,"crv":"X25519","x":"GOOD"}"#, ["/kty"]),
        (#"{"kty":"OKP","crv":"Ed25519","x":"GOOD"}"#, ["/crv"]),
        (#"{"kty":"OKP","crv":"X448","x":"GOOD"}"#, ["/crv"]),
        (#"{"kty":"OKP","crv":"X25519"}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","X":"GOOD"}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":null}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":""}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":"GOOD="}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":"GOODA"}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmp"}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":"hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo"}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":"GOOD","x":"GOOD"}"#, ["/x"]),
        (#"{"kty":"OKP","crv":"X25519","x":"GOOD","d":"GOOD"}"#, ["/d"]),
        (#"{"kty":"oct","k":"GOOD"}"#, ["/kty", "/k", "/crv", "/x"]),
        (#"{"kty":"EC","crv":"P-256","x":"AA"}"#, ["/kty", "/crv", "/x"]),
    ])
    func `Every mistake is named`(_ text: String, _ pointers: [String]) throws {
        let result = try read(text.replacing("GOOD", with: Self.good))
        #expect(result.key == nil)
        #expect(result.issues.map(\.pointer) == pointers)
        #expect(!result.issues.contains { $0.detail.contains(Self.good) })
    }

    @Test func `A private key is called one`() throws {
        let result = try read(#"{"kty":"OKP","crv":"X25519","x":"\#(Self.good)","d":"\#(Self.good)"}"#)
        #expect(result.issues.first?.detail.contains("private") == true)
    }

    @Test func `A key has 32 bytes`() {
        for count in [0, 31, 33, 64] { #expect(EncryptionKey(x: [UInt8](repeating: 9, count: count)) == nil) }
    }
}
