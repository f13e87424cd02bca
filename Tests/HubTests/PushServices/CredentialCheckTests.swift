import Domain
import Foundation
import Foundations
import OutgoingHTTP
import PushServices
import StackKit
import Storage
import TestSupport
import Testing

@testable import Hub

/// `hub check`, and the tokens that processes share.
@Suite(.timeLimit(.minutes(2))) struct CredentialCheckTests {
    /// The answer of `hub check` for the only platform of a file.
    private func check(
        _ credentials: String, _ folder: String, tables: HubTables? = nil
    ) async throws -> (isGood: Bool?, reason: String?) {
        let path = folder + "/check.json"
        try TestHub.write(credentials, to: path)
        let platforms = try HubTools.platforms(ofCredentialsFile: path, outgoing: OutgoingConfiguration())
        let platform = try #require(platforms.first)
        #expect(platforms.count == 1 && !platform.isSimulated)
        return await platform.check(tables: tables, deadline: .now + .seconds(20))
    }

    @Test(arguments: [FakePushService.Kind.apns, .fcm])
    func `A push to nobody shows whether the credentials are good`(kind: FakePushService.Kind) async throws {
        try await withRealHub(kind) { _, platform in
            let good = try await platform.credentials(2)
            #expect(try await check(good, platform.folder).isGood == true)
            // They are replaced by others.
            _ = try await platform.credentials(3)
            let refused = try await check(good, platform.folder)
            #expect(refused.isGood == false && refused.reason?.isEmpty == false)
            #expect(try await platform.service.pushes().isEmpty)
        }
    }

    @Test func `A check uses the token that the hub has`() async throws {
        try await withRealHub(.apns) { hub, platform in
            try await hub.install(try await platform.devices(1), platform, tag: "t")
            let credentials = try await platform.credentials(2)
            try TestHub.write(credentials, to: hub.credentialsFile)
            let isInForce = try await eventually { try await hub.send(platform, tag: "t") == ["Success": 1] }
            #expect(isInForce)
            let tables = hub.state.delivery.tables
            #expect(try await check(credentials, platform.folder, tables: tables).isGood == true)
            #expect(try await platform.service.state().tokens["ABC1234562"] == 1)
            // Without the tables it makes its own.
            #expect(try await check(credentials, platform.folder).isGood == true)
            #expect(try await platform.service.state().tokens["ABC1234562"] == 2)
        }
    }

    @Test func `Tokens are shared through the tables, and a command only looks`() async throws {
        try await withTables { store in
            let (tokens, command) = (
                StoredPushTokens(tables: store.tables), StoredPushTokens(tables: store.tables, isReadOnly: true)
            )
            let first = SharedPushToken(issuedAt: .now, sealed: [1, 2, 3])
            let second = SharedPushToken(issuedAt: first.issuedAt + .seconds(1), sealed: [4])
            #expect(try await tokens.token(of: "k").token == nil)
            var stored = try await command.replace(tokenIssuedAt: nil, by: first, of: "k")
            #expect(stored == first)
            #expect(try await tokens.token(of: "k").token == nil)
            stored = try await tokens.replace(tokenIssuedAt: nil, by: first, of: "k")
            #expect(stored == first)
            stored = try await tokens.replace(tokenIssuedAt: nil, by: second, of: "k")
            #expect(stored == first)
            #expect(try await command.token(of: "k").token == first)
            stored = try await tokens.replace(tokenIssuedAt: first.issuedAt, by: second, of: "k")
            #expect(stored == second)
        }
    }
}
