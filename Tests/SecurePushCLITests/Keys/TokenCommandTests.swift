import Foundation
import Foundations
import TestSupport
import Testing

@testable import SecurePushCLI

/// `token` signs tokens as retrieval would, and says what is wrong in terms of its own options.
@Suite(.timeLimit(.minutes(5))) struct TokenCommandTests {
    /// The claims of a JWT (RFC 7519), unverified.
    private static func claims(_ token: String) throws -> JSONValue {
        let part = try #require(token.split(separator: ".").dropFirst().first)
        let bytes = try #require(Base64.decode(part, .url))
        return try #require(JSONValue(text: String(decoding: bytes, as: UTF8.self)))
    }

    @Test(arguments: [("5m", 300), ("1h", 3600), ("30d", 2_592_000)])
    func `A token with --expires-in is issued now and lasts that long`(lifetime: String, seconds: Int) async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:1/")
            _ = try setup.run()
            let start = Int(Date().timeIntervalSince1970)
            let run = try await CommandLineRun(
                [
                    "token", "--user", "alice", "--signing-key-file", setup.signingKey, "--expires-in", lifetime,
                    "--json",
                ],
                in: folder)
            #expect(run.code == 0, "\(run.errors)")
            let token = try #require(JSONValue(text: run.output)?["access_token"]?.text)
            let claims = try Self.claims(token)
            let issued = try #require(claims["iat"]?.number.map { Int($0) })
            let expires = try #require(claims["exp"]?.number.map { Int($0) })
            #expect(issued >= start - 1 && issued <= Int(Date().timeIntervalSince1970) + 1)
            #expect(expires - issued == seconds)
        }
    }

    @Test func `A wrong password is answered with the options that token has`() async throws {
        try await LocalServices.with { services in
            try SecretFile.create("\(services.folder)/wrong", "wrong password")
            let run = try await services.run("token", "--user", "alice", "--password-file", "wrong")
            #expect(
                run.code == 1 && run.errors.contains("401") && run.errors.contains("--password-file"), "\(run.errors)")
            #expect(!run.errors.contains("--token-file") && !run.errors.contains("RETRIEVAL_TOKEN"))
        }
    }

    /// Basic credentials end the name at the first colon: `a:b` would log in as `a`.
    @Test func `A user with a colon in the name has tokens and no password`() async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:1/")
            _ = try setup.run()
            for command in [["token"], ["token", "--password-file", "none"], ["inbox", "--password-file", "none"]] {
                let run = try await CommandLineRun(command + ["--user", "a:b"], in: folder)
                #expect(run.code == 64, "\(run.errors)")
                #expect(run.errors.contains("--user: a user who logs in with a password cannot have a colon"))
            }
            let signed = try await CommandLineRun(
                ["token", "--user", "a:b", "--signing-key-file", setup.signingKey], in: folder)
            #expect(signed.code == 0, "\(signed.errors)")
            #expect(try Self.claims(signed.output)["sub"]?.text == "a:b")
        }
    }
}
