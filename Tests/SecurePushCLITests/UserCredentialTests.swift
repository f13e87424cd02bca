import ArgumentParser
import Foundation
import SecurePushClient
import Testing

@testable import SecurePushCLI

/// `--user` beside a token: the service goes by the token alone.
@Suite struct UserCredentialTests {
    private func token(_ claims: String) -> String {
        let part = { (text: String) in
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return part(#"{"alg":"ES256"}"#) + "." + part(claims) + "." + part("signature")
    }

    private func credentials(of user: String, token: String) throws -> ClientCredentials {
        try UserCredentialOptions.parse([]).credentials(of: user, ["RETRIEVAL_TOKEN": token])
    }

    @Test(arguments: ["alice", "Ré né>?", "a.b"])
    func `A token of the user is taken`(name: String) throws {
        let token = token(#"{"iss":"x","sub":"\#(name)","exp":1}"#)
        #expect(try credentials(of: name, token: token) == .bearer(token))
    }

    @Test(arguments: [
        ("alice", "bob"), ("alice", "Alice"), ("alice", "alice "), ("\u{E9}", "e\u{301}"), ("alice", ""),
    ])
    func `Another user's token is a usage error that names both`(user: String, subject: String) throws {
        let token = token(#"{"sub":"\#(subject)"}"#)
        let failure = #expect(throws: CommandFailure.self) { try credentials(of: user, token: token) }
        #expect(failure?.code == .usage)
        #expect(failure?.message.contains("RETRIEVAL_TOKEN") == true)
        #expect(failure?.message.contains(token) == false)
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-cli-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data((token + "\n").utf8).write(to: folder)
        let options = try UserCredentialOptions.parse(["--token-file", folder.path])
        #expect(throws: CommandFailure.self) { try options.credentials(of: user, [:]) }
    }

    @Test(arguments: ["opaque", "a.b.c", "..", "a.b", "e30.e30.e30"])
    func `A token that tells no user is the service's to refuse`(token: String) throws {
        #expect(try credentials(of: "alice", token: token) == .bearer(token))
    }
}
