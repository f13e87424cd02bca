import Authentication
import Domain
import Foundation
import Foundations
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Authentication

/// What a test of the authenticator works with.
struct AuthenticatorBench {
    let folder: String
    let clock: TestClock
    let authenticator: UserAuthenticator
    let configuration: UserAuthenticationConfiguration
    let lines: LogLines

    var keySetFile: String { folder + "/keys.json" }

    /// The error of credentials that must be refused.
    func refusal(_ authorization: String?, from client: ClientAddress? = nil) async -> AuthenticationError? {
        do throws(AuthenticationError) {
            _ = try await authenticator.authenticate(authorization: authorization, from: client)
            return nil
        } catch {
            return error
        }
    }

    func expectRefusal(
        _ authorization: String, _ code: AuthenticationError.Code?, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let refused = await refusal(authorization)?.code
        #expect(refused == code, sourceLocation: sourceLocation)
    }

    func expectUser(
        _ authorization: String, _ name: String, from client: ClientAddress? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await user(authorization, from: client)
        #expect(found == name, sourceLocation: sourceLocation)
    }

    func user(_ authorization: String, from client: ClientAddress? = nil) async throws -> String {
        try await authenticator.authenticate(authorization: authorization, from: client).text
    }
}

/// Runs a body with an authenticator whose key set is this, on a clock of its own.
func withAuthenticator(
    jwks: String?, configure: (inout UserAuthenticationConfiguration, String) throws -> Void = { _, _ in },
    _ body: (AuthenticatorBench) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        var configuration = UserAuthenticationConfiguration()
        if let jwks {
            configuration.jwksFile = folder + "/keys.json"
            try write(jwks, to: folder + "/keys.json")
        }
        try configure(&configuration, folder)
        let (clock, lines) = (TestClock(), LogLines())
        let authenticator = try UserAuthenticator(
            configuration: configuration, logger: Logger(label: "test", factory: { _ in lines }),
            now: { clock.now }, instant: { clock.instant })
        try await body(
            AuthenticatorBench(
                folder: folder, clock: clock, authenticator: authenticator, configuration: configuration,
                lines: lines))
    }
}

/// The claims of a good token, and what a test adds.
func claims(_ more: String = "", expiresIn seconds: Int64 = 600) -> String {
    #"{"sub":"alice","exp":\#(Timestamp.claim(seconds))\#(more.isEmpty ? "" : ",")\#(more)}"#
}

func basic(_ user: String, _ password: String) -> String {
    "Basic " + Base64.encode("\(user):\(password)".utf8, .standard)
}
