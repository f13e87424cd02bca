import Domain
import Foundations
import Testing

struct PushVerificationKeysTests {
    /// RFC 8037, appendix A.2; its thumbprint is in A.3.
    private static let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    private static let thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"

    private static func set(_ members: String) -> String {
        #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"\#(x)"\#(members)}]}"#
    }

    @Test func `A key without an ID gets its thumbprint`() throws {
        let keys = try PushVerificationKeys(jwks: Self.set(""))
        #expect(keys.keys.map(\.keyID) == [Self.thumbprint])
        #expect(keys.jwks == Self.set(#","kid":"\#(Self.thumbprint)","use":"sig","alg":"EdDSA""#))
        #expect(try PushVerificationKeys(jwks: keys.jwks) == keys)
    }

    @Test func `Members that this program does not know are not shown`() throws {
        let keys = try PushVerificationKeys(jwks: Self.set(#","kid":"k1","alg":"Ed25519","x5u":"https://a""#))
        #expect(keys.jwks == Self.set(#","kid":"k1","use":"sig","alg":"EdDSA""#))
    }

    @Test(arguments: ["d", "k", "p", "oth"])
    func `A private or secret key is refused`(_ member: String) {
        let error = #expect(throws: SetupError.self) {
            try PushVerificationKeys(jwks: Self.set(#","\#(member)":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#))
        }
        #expect(error?.message.contains("key 1 is private or secret") ?? false)
        #expect(error.map { !$0.message.contains("nWGxne") } ?? false)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[1]}"#, #"{"keys":[],"keys":[]}"#,
        #"{"keys":[{"kty":"OKP","crv":"X25519","x":"\#(x)"}]}"#,
        #"{"keys":[{"kty":"OKP","crv":"Ed25519"}]}"#, #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}"#,
        set(#","use":"enc""#), set(#","alg":"ES256""#), set(#","kid":"""#), set(#","kid":1"#),
        #"{"keys":["#
            + Array(repeating: #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"}"#, count: 33).joined(
                separator: ",") + "]}",
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
