import Foundation
import Testing

@testable import SecurePushClient
@_spi(TestVectors) @testable import SecurePushEnvelope

/// A sender who encrypts end to end. Its clock is that of a phone.
struct SimulatedSender: Sendable {
    var clock: SimulatedClock
    /// Signs the envelopes, if there is one.
    var key: SenderKey?

    /// Encrypts a JSON text for devices.
    ///
    /// - Parameters:
    ///   - id: names the content.
    ///   - age: how long ago it was made, in seconds.
    ///   - expiry: from now, in seconds.
    func seal(
        _ json: String, for recipient: String = "alice", to devices: [String: EnvelopeKey], id: UUID = UUID(),
        age: Int = 0, expiresIn expiry: TimeInterval? = nil
    ) throws -> String {
        var randomness = EnvelopeRandomness()
        randomness.id = id
        randomness.createdAt = Int(clock.date.timeIntervalSince1970) - age
        return try Envelope.seal(
            Data(json.utf8), for: recipient, devices: devices, expiresAt: expiry.map { clock.date + $0 }, signedBy: key,
            with: randomness)
    }
}

extension SimulatedPhone {
    /// A sender who knows the keys that the server has.
    var sender: SimulatedSender { SimulatedSender(clock: clock) }

    /// The device's key, as the server has it.
    func registeredKey() async throws -> [String: EnvelopeKey] {
        let id = try #require(try await store.read().registration.installationID).uuidString.lowercased()
        let jwk = try #require(server.change { $0.keys[id] })
        return [id: try EnvelopeKey(jwk: Data(jwk.utf8))]
    }

    /// Encrypts a JSON text for this phone.
    func seal(_ json: String) async throws -> String { try sender.seal(json, to: try await registeredKey()) }
}
