import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// The device's keys for end-to-end encryption change, and its user can compare them.
@Suite(.timeLimit(.minutes(10))) struct KeyRotationTests {
    private static let day: TimeInterval = 86_400
    private let device = PushDevice(platform: .apns, channel: "AB")

    private func phone() async throws -> SimulatedPhone {
        let phone = try await SimulatedPhone { $0.encryptsEndToEnd = true }
        try await phone.client.register(device)
        return phone
    }

    @Test(arguments: [false, true]) func aNewKeyIsMadeAfterThirtyDays(_ isByCatchUp: Bool) async throws {
        let phone = try await phone()
        let first = try await phone.registeredKey()
        let renew = {
            if isByCatchUp { _ = await phone.client.catchUp() } else { try await phone.client.register(device) }
        }
        phone.clock.jump(by: 29 * Self.day)
        try await renew()
        #expect(try await phone.registeredKey() == first)
        phone.clock.jump(by: Self.day)
        try await renew()
        let second = try await phone.registeredKey()
        #expect(second != first && second.keys == first.keys)
        // What was sealed for the former key opens; a sender may have read the keys before.
        phone.server.add("01", try phone.sender.seal("\"former\"", to: first))
        phone.server.add("02", try phone.sender.seal("\"newest\"", to: second))
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets == ["01": "former", "02": "newest"])
    }

    @Test func aFormerKeyIsForgottenNinetyDaysAfterItsSuccessor() async throws {
        let phone = try await phone()
        let first = try #require(try await phone.store.envelopeKey()).publicKey
        for _ in 0..<5 {
            phone.clock.jump(by: 30 * Self.day)
            try await phone.client.register(device)
        }
        let keys = try await phone.store.envelopeKeys().keys.map(\.publicKey)
        // Of 0, 30, 60, 90 and 120 days ago; the one that was replaced 120 days ago is gone.
        #expect(keys.count == 5)
        #expect(!keys.contains(first))
        #expect(Set(keys).count == keys.count)
        try await phone.client.logOut()
        #expect(try await phone.store.envelopeKeys() == EnvelopeKeyRing())
    }

    /// The senders still have the former key.
    @Test func aFormerKeyStaysWhileTheServerDoesNotHaveItsSuccessor() async throws {
        let phone = try await phone()
        let first = try await phone.registeredKey()
        phone.clock.jump(by: 30 * Self.day)
        phone.server.fail("PUT devices", .response(TransportResponse(status: 503)), times: 100)
        _ = await phone.client.catchUp()
        #expect(try await phone.registeredKey() == first)
        #expect(try await phone.store.envelopeKeys().entries.map(\.replacedAt) == [nil, nil])
        phone.server.change { $0.faults = [] }
        _ = await phone.client.catchUp()
        #expect(try await phone.registeredKey() != first)
        #expect(try await phone.store.envelopeKeys().entries.count == 2)
        // Nothing is due, so nothing is sent.
        let count = phone.requests.count { $0.hasPrefix("PUT") }
        _ = await phone.client.catchUp()
        #expect(phone.requests.count { $0.hasPrefix("PUT") } == count)
    }

    @Test func theFingerprintIsThatOfTheRegisteredKey() async throws {
        let phone = try await SimulatedPhone { $0.encryptsEndToEnd = true }
        #expect(try await phone.client.encryptionKeyFingerprint == nil)
        try await phone.client.register(device)
        let fingerprint = try #require(try await phone.client.encryptionKeyFingerprint)
        #expect(try await phone.registeredKey().values.map(\.fingerprint) == [fingerprint])
        #expect(fingerprint.split(separator: " ").map(\.count) == Array(repeating: 4, count: 8))
    }
}
