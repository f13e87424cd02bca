import Domain
import Foundation
import Foundations
import Logging
import TestSupport
import Testing

@testable import Authentication

struct OperatorAuthenticatorTests {
    private func withOperator(_ body: (OperatorAuthenticator, LogLines) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try write("pässwörd\n", to: folder + "/password")
            let lines = LogLines()
            let authenticator = try OperatorAuthenticator(
                passwordFile: folder + "/password", logger: Logger(label: "test") { _ in lines })
            try await body(authenticator, lines)
        }
    }

    private func refusal(
        _ authenticator: OperatorAuthenticator, _ authorization: String, from address: String
    ) async -> AuthenticationError? {
        do throws(AuthenticationError) {
            try await authenticator.authenticate(authorization: authorization, from: ClientAddress(address))
            return nil
        } catch {
            return error
        }
    }

    /// Finding 5 of the second security review: names that do not exist kept the operator out. With a hash for each,
    /// these take minutes, and the last ones are held back or refused.
    @Test(.timeLimit(.minutes(5))) func `Other names are refused without a check`() async throws {
        try await withOperator { authenticator, lines in
            let names = ["root", "Admin", "admin ", "adminn", "", "ａdmin", "admi", "operator"]
            for number in 0..<4000 {
                let name = number < names.count ? names[number] : "user\(number)"
                let error = try #require(
                    await refusal(authenticator, basic(name, "pässwörd"), from: "192.0.2.\(number % 2)"))
                #expect(error.code == .invalid && error.delay == .zero && error.challenges.count == 1)
            }
            // Neither the client nor anybody else waits for that.
            for address in ["192.0.2.1", "192.0.2.9"] {
                #expect(await refusal(authenticator, basic("admin", "pässwörd"), from: address) == nil)
            }
            #expect(await refusal(authenticator, basic("admin", "pa\u{308}sswo\u{308}rd"), from: "192.0.2.3") == nil)
            #expect(await refusal(authenticator, basic("admin", "password"), from: "192.0.2.3")?.code == .invalid)
            #expect(lines.all.contains { $0.contains("Many passwords were wrong or refused") })
            #expect(!lines.all.contains { $0.contains("user") || $0.contains("pässwörd") })
        }
    }
}
