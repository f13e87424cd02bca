import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// The device's key for end-to-end encryption: when the server gets it, and when it is removed.
@Suite(.timeLimit(.minutes(10))) struct EncryptionKeyTests {
    private let device = PushDevice(platform: .apns, channel: "AB")

    private func phone(store: any ClientStore = MemoryClientStore()) async throws -> SimulatedPhone {
        try await SimulatedPhone(store: store) { $0.encryptsEndToEnd = true }
    }

    /// Every try of these requests fails.
    private func fail(_ requests: String, of phone: SimulatedPhone) {
        phone.server.fail(requests, .response(TransportResponse(status: 503)), times: 20)
    }

    private func heal(_ phone: SimulatedPhone) { phone.server.change { $0.faults = [] } }

    private func puts(_ phone: SimulatedPhone) -> [String] {
        phone.requests.filter { $0.hasPrefix("PUT") }.map { String($0.dropFirst(4).prefix { $0 != "/" }) }
    }

    @Test func eachRegistrationSendsIt() async throws {
        let phone = try await phone()
        let id = try await phone.client.register(device)
        let key = try #require(phone.server.change { $0.keys[id] })
        #expect(puts(phone) == ["installations", "devices"])
        // The server forgets it when it replaces the installation.
        phone.server.change { $0.keys = [:] }
        _ = try await phone.client.register(device)
        #expect(phone.server.change { $0.keys[id] } == key)
        #expect(puts(phone) == ["installations", "devices", "devices"])
        phone.server.change { $0.keys = [:] }
        phone.clock.jump(by: 8 * 86_400)
        _ = try await phone.client.register(device)
        #expect(phone.server.change { $0.keys[id] } == key)
    }

    @Test func anInstallationThatTheServerHasLostIsRegisteredAnew() async throws {
        let phone = try await phone()
        let id = try await phone.client.register(device)
        let key = phone.server.change { $0.keys[id] }
        phone.server.change { ($0.keys, $0.installations) = ([:], [:]) }
        #expect(try await phone.client.register(device) == id)
        #expect(phone.server.change { $0.installations[id] } != nil)
        #expect(phone.server.change { $0.keys[id] } == key)
    }

    @Test func aDeviceThatIsOfflineStaysRegistered() async throws {
        let phone = try await phone()
        let id = try await phone.client.register(device)
        phone.server.fail("PUT", .error(.unreachable), times: 20)
        #expect(try await phone.client.register(device) == id)
        // But a key that the server has never got is an error.
        try await phone.store.loseKeys()
        let failure = SecurePushFailure(code: .unreachable, installationID: id)
        await #expect(throws: failure) { try await phone.client.register(device) }
    }

    @Test func aLostKeyIsReplaced() async throws {
        let phone = try await phone()
        let id = try await phone.client.register(device)
        let key = phone.server.change { $0.keys[id] }
        try await phone.store.loseKeys()
        _ = try await phone.client.register(device)
        #expect(phone.server.change { $0.keys[id] } != key)
    }

    @Test func itGoesWithTheUser() async throws {
        let phone = try await phone()
        let id = try await phone.client.register(device)
        let alices = phone.server.change { $0.keys[id] }
        try await phone.credentials.logIn(userName: "bob", token: "token-1")
        _ = try await phone.client.register(device)
        #expect(phone.server.change { $0.keys[id] } != alices)
        try await phone.client.unregister()
        #expect(try await phone.store.envelopeKey() == nil)
    }

    /// A registration that failed half-way, and a damaged state, must not hide whose key it is.
    @Test(arguments: [false, true]) func itNeverBecomesAnothersKey(_ isDamaged: Bool) async throws {
        let phone = try await phone()
        _ = try await phone.client.register(device)
        let alices = try #require(try await phone.store.envelopeKey())
        if isDamaged {
            try await phone.store.update { $0 = ClientState() }
        } else {
            fail("PUT installations", of: phone)
            _ = try? await phone.client.register(PushDevice(platform: .apns, channel: "CD"))
            heal(phone)
        }
        try await phone.credentials.logIn(userName: "bob", token: "token-1")
        let id = try await phone.client.register(device)
        let bobs = try #require(try await phone.store.envelopeKey())
        #expect(bobs.publicKey != alices.publicKey)
        #expect(phone.server.change { $0.keys[id] } == bobs.publicKey.jwk)
    }

    @Test func itGoesWithTheUserAlsoWhereEncryptionWasTurnedOff() async throws {
        let phone = try await phone()
        _ = try await phone.client.register(device)
        let configuration = SecurePushConfiguration(retrievalURL: SimulatedPhone.url)
        #expect(!configuration.encryptsEndToEnd)
        let plain = SecurePushClient(
            configuration: configuration, credentials: phone.credentials,
            store: phone.store, transport: phone.server, clock: phone.clock, presenter: phone.screen)
        _ = try await plain.register(device)
        #expect(try await phone.store.envelopeKey() != nil)
        try await phone.credentials.logIn(userName: "bob", token: "token-1")
        _ = try await plain.register(device)
        #expect(try await phone.store.envelopeKey() == nil)
    }

    @Test func itGoesWithTheUserAtOnce() async throws {
        let phone = try await phone()
        let id = try await phone.client.register(device)
        let key = try #require(phone.server.change { $0.keys[id] })
        fail("PUT installations", of: phone)
        try await phone.credentials.logIn(userName: "bob", token: "token-1")
        await #expect(throws: SecurePushFailure.self) { try await phone.client.register(device) }
        // alice is back, and the secrets that were sent in the meantime are for the same key.
        #expect(try await phone.store.envelopeKey()?.publicKey.jwk == key)
        heal(phone)
        try await phone.logIn()
        _ = try await phone.client.register(device)
        #expect(phone.server.change { $0.keys[id] } == key)
        // Also when the server cannot be told.
        fail("DELETE", of: phone)
        #expect(try await !phone.client.logOut())
        #expect(try await phone.store.envelopeKey() == nil)
        #expect(try await phone.store.read().keyOwner == nil)
    }

    @Test func aKeyThatCannotBeRemovedIsAnError() async throws {
        let store = FaultyStore()
        let phone = try await phone(store: store)
        _ = try await phone.client.register(device)
        await store.fail(writes: .unwritable)
        await #expect(throws: SecurePushFailure(code: .noKey)) { try await phone.client.unregister() }
        await store.fail()
        try await phone.client.unregister()
        #expect(try await store.envelopeKey() == nil)
    }
}
