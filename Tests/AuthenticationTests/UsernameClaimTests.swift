import Domain
import Foundations
import TestSupport
import Testing

@testable import Authentication

/// `AUTH_USERNAME_CLAIM`.
struct UsernameClaimTests {
    private static let claim = "preferred_username"

    @Test(
        arguments: [
            (#""sub":"auth0|7","preferred_username":"alice""#, "alice"), (#""preferred_username":"alice""#, "alice"),
            (#""sub":7,"preferred_username":"alice""#, "alice"), (#""sub":"alice""#, nil),
            (#""sub":"alice","preferred_username":null"#, nil), (#""sub":"alice","preferred_username":7"#, nil),
            (#""sub":"alice","preferred_username":["alice"]"#, nil), (#""sub":"alice","preferred_username":"""#, nil),
            (#""sub":"alice","preferred_username":"a\u0000""#, nil),
            (#""sub":"alice","preferred_username":"\#(String(repeating: "x", count: 1025))""#, nil),
            (#""sub":"alice","Preferred_Username":"alice""#, nil),
        ] as [(String, String?)])
    func `The user is the one of the claim, and no other`(members: String, user: String?) async throws {
        let key = TestKey.edDSA()
        try await withAuthenticator(
            jwks: jwks(key.jwk()), configure: { configuration, _ in configuration.usernameClaim = Self.claim }
        ) { bench in
            let token = try "Bearer " + key.token(claims: #"{\#(members),"exp":\#(Timestamp.claim(60))}"#)
            guard let user else {
                try await bench.expectRefusal(token, .invalid)
                let reason = "info A token was refused reason=The token does not name a user."
                #expect(bench.lines.all.filter { $0.contains("refused") } == [reason])
                return
            }
            try await bench.expectUser(token, user)
            #expect(bench.authenticator.remembered(authorization: token)?.text == user)
        }
    }

    /// Which claim counts depends on whose key has signed: a token with both must not choose.
    @Test func `A token that is issued here names its user in sub`() async throws {
        let key = TestKey.edDSA()
        try await withAuthenticator(
            jwks: jwks(key.jwk(#""kid":"provider""#)),
            configure: { configuration, folder in
                configuration.usernameClaim = Self.claim
                configuration.signingKeyFile = folder + "/key.pem"
                try TokenSigningKey.make(at: folder + "/key.pem")
            }
        ) { bench in
            let issuer = try #require(try TokenIssuer(configuration: bench.configuration))
            let own = try issuer.issue(to: try #require(UserName("bob")), now: bench.clock.now).token
            try await bench.expectUser("Bearer \(own)", "bob")
            let header = #"{"alg":"EdDSA","kid":"provider"}"#
            for (members, user) in [(#","preferred_username":"carol""#, "carol"), ("", nil)] {
                let text = #"{"sub":"bob"\#(members),"exp":\#(Timestamp.claim(60))}"#
                let token = try "Bearer " + key.token(header: header, claims: text)
                if let user {
                    try await bench.expectUser(token, user)
                } else {
                    try await bench.expectRefusal(token, .invalid)
                }
            }
        }
    }
}
