import Domain
import Foundations
import Testing

struct EncryptionKeyTests {
    /// RFC 7515, appendix A.3.
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

    private func read(_ text: String) throws -> (key: EncryptionKey?, issues: [MemberIssues.Issue]) {
        try Array(text.utf8).withUnsafeBufferPointer { bytes in
            var json = try JSONObjectReader(bytes)
            let key = json.read(.publicKey)
            return (json.issues.isEmpty ? key : nil, json.issues)
        }
    }

    /// A sender that agrees on a secret with such a point would give away its own key, or a secret that others know.
    @Test(arguments: [
        (y, x), (x, x), (String(repeating: "A", count: 43), String(repeating: "A", count: 43)),
        // The prime of the field: the same as x 0, whose y this is, but not below the prime.
        ("_____wAAAAEAAAAAAAAAAAAAAAD_______________8", "ZkhceA4vg9ckM71dhKBrtlQcKvMdrocXKL-FahdPk_Q"),
    ])
    func `Points beside the curve are refused`(_ x: String, _ y: String) throws {
        let result = try read(#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#)
        #expect(result.key == nil)
        #expect(result.issues.map(\.pointer) == ["/x"])
        #expect(result.issues.first?.detail.contains("not on the curve") == true)
    }

    @Test func `Keys that libraries make are good`() throws {
        for _ in 0..<100 {
            let key = try #require(EncryptionKey(point: ES256Key().publicPoint))
            let result = try read(key.jwk)
            #expect(result.key == key && result.issues.isEmpty)
        }
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)"}"#
        #expect(try read(jwk).key?.jwk == jwk)
    }

    @Test func `The members may have any order, and what platforms add is ignored`() throws {
        let more = #""key_ops":[],"ext":true,"kid":"1","alg":"ECDH-ES""#
        let result = try read(#"{"y":"\#(Self.y)",\#(more),"kty":"EC","x":"\#(Self.x)","crv":"P-256"}"#)
        #expect(result.issues.isEmpty)
        #expect(result.key?.jwk == #"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)"}"#)
    }

    @Test(arguments: [
        (#"{}"#, ["/kty", "/crv", "/x", "/y"]),
        (#"[]"#, [""]),
        (#"null"#, [""]),
        (#"{"kty":"OKP","crv":"P-256","x":"GOOD","y":"FINE"}"#, ["/kty"]),
        (#"{"kty":"ec","crv":"P-256","x":"GOOD","y":"FINE"}"#, ["/kty"]),
        (#"{"kty":1,"crv":"P-256","x":"GOOD","y":"FINE"}"#, ["/kty"]),
        (#"{"kty":"EC","crv":"P-384","x":"GOOD","y":"FINE"}"#, ["/crv"]),
        (#"{"kty":"EC","crv":"secp256k1","x":"GOOD","y":"FINE"}"#, ["/crv"]),
        (#"{"kty":"EC","crv":"P-256","y":"FINE"}"#, ["/x"]),
        (#"{"kty":"EC","crv":"P-256","x":"GOOD"}"#, ["/y"]),
        (#"{"kty":"EC","crv":"P-256","X":"GOOD","y":"FINE"}"#, ["/x"]),
        (#"{"kty":"EC","crv":"P-256","x":null,"y":"FINE"}"#, ["/x"]),
        (#"{"kty":"EC","crv":"P-256","x":"","y":""}"#, ["/x", "/y"]),
        (#"{"kty":"EC","crv":"P-256","x":"GOOD=","y":"FINE"}"#, ["/x"]),
        (#"{"kty":"EC","crv":"P-256","x":"GOODA","y":"FINEAA"}"#, ["/x", "/y"]),
        // Bits that are not used, and the other alphabet of base64.
        (#"{"kty":"EC","crv":"P-256","x":"GOOD","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a1"}"#, ["/y"]),
        (#"{"kty":"EC","crv":"P-256","x":"GOOD","y":"x/FEzRu9m36HLN/tue659LNpXW6pCyStikYjKIWI5a0"}"#, ["/y"]),
        (#"{"kty":"EC","crv":"P-256","x":"GOOD","x":"GOOD","y":"FINE"}"#, ["/x"]),
        (#"{"kty":"EC","crv":"P-256","x":"GOOD","y":"FINE","d":"GOOD"}"#, ["/d"]),
        (#"{"kty":"oct","k":"GOOD"}"#, ["/kty", "/k", "/crv", "/x", "/y"]),
        (#"{"kty":"OKP","crv":"X25519","x":"GOOD"}"#, ["/kty", "/crv", "/y"]),
    ])
    func `Every mistake is named`(_ text: String, _ pointers: [String]) throws {
        let result = try read(text.replacing("GOOD", with: Self.x).replacing("FINE", with: Self.y))
        #expect(result.key == nil)
        #expect(result.issues.map(\.pointer) == pointers)
        #expect(!result.issues.contains { $0.detail.contains(Self.x) })
    }

    @Test func `A private key is called one`() throws {
        let result = try read(
            #"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)","d":"\#(Self.x)"}"#)
        #expect(result.issues.first?.detail.contains("private") == true)
    }

    @Test func `A key is an uncompressed point`() {
        for count in [0, 1, 64, 66] { #expect(EncryptionKey(point: [UInt8](repeating: 4, count: count)) == nil) }
        for first in [0, 2, 3, 6] as [UInt8] {
            #expect(EncryptionKey(point: [first] + [UInt8](repeating: 9, count: 64)) == nil)
        }
    }
}
