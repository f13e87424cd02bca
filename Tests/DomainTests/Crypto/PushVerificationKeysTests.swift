import Domain
import Foundations
import Testing

struct PushVerificationKeysTests {
    /// RFC 7515, appendix A.3.
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    private static let thumbprint = "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"

    private static func key(_ members: String = "", x: String = x, y: String = y) -> String {
        #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"\#(members)}"#
    }

    private static func set(_ keys: String...) -> String { #"{"keys":[\#(keys.joined(separator: ","))]}"# }

    @Test func `A key without an ID gets its thumbprint`() throws {
        let keys = try PushVerificationKeys(jwks: Self.set(Self.key()))
        #expect(keys.keys.map(\.keyID) == [Self.thumbprint])
        #expect(keys.jwks == Self.set(Self.key(#","kid":"\#(Self.thumbprint)","use":"sig","alg":"ES256""#)))
        #expect(try PushVerificationKeys(jwks: keys.jwks) == keys)
    }

    @Test func `Members that this program does not know are not shown`() throws {
        let keys = try PushVerificationKeys(jwks: Self.set(Self.key(#","kid":"k1","alg":"ES256","x5u":"https://a""#)))
        #expect(keys.jwks == Self.set(Self.key(#","kid":"k1","use":"sig","alg":"ES256""#)))
    }

    @Test func `Keys of other kinds are skipped`() throws {
        let others = [
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#, #"{"kty":"RSA","n":"AAAA","e":"AQAB"}"#, "{}",
        ]
        let keys = try PushVerificationKeys(jwks: Self.set(others[0], others[1], Self.key(), others[2], others[3]))
        #expect(keys.keys.map(\.keyID) == [Self.thumbprint])
        let error = #expect(throws: SetupError.self) { try PushVerificationKeys(jwks: Self.set(others[0])) }
        #expect(error?.message.contains("no key on P-256") == true)
    }

    @Test(arguments: ["d", "k", "p", "oth"])
    func `A private or secret key is refused, also one of another kind`(_ member: String) {
        let secret = #""\#(member)":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI""#
        for text in [Self.set(Self.key(",\(secret)")), Self.set("{\(secret)}", Self.key())] {
            let error = #expect(throws: SetupError.self) { try PushVerificationKeys(jwks: text) }
            #expect(error?.message.contains("key 1 is private or secret") ?? false)
            #expect(error.map { !$0.message.contains("jpsQnn") } ?? false)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"keys":{}}"#, set(), set("1"), #"{"keys":[],"keys":[]}"#,
        set(key(x: "AAAA")), set(key(y: "AAAA")), set(key(x: x + "=")), set(#"{"kty":"EC","crv":"P-256","x":"\#(x)"}"#),
        // The unused bits of the last character are not zero.
        set(key(x: x.dropLast() + "V")),
        // Not on the curve.
        set(key(x: y, y: x)), set(key(x: String(repeating: "A", count: 43), y: String(repeating: "A", count: 43))),
        set(key(#","use":"enc""#)), set(key(#","alg":"EdDSA""#)), set(key(#","kid":"""#)), set(key(#","kid":1"#)),
        #"{"keys":["# + Array(repeating: key(), count: 33).joined(separator: ",") + "]}",
    ])
    func `Any other text is refused`(_ text: String) {
        #expect(throws: SetupError.self) { try PushVerificationKeys(jwks: text) }
    }

    @Test func `A new key is first, the old ones follow, and one that is there moves`() throws {
        let (first, second, third) = (
            PushSigningKey().publicKey, PushSigningKey().publicKey, PushSigningKey().publicKey
        )
        let keys = PushVerificationKeys(first).adding(second).adding(third)
        #expect(keys.keys == [third, second, first])
        #expect(keys.adding(first).keys == [first, third, second])
        #expect(keys.keeping(2).keys == [third, second] && keys.keeping(0).keys == [third])
    }
}
