import Foundation
@_spi(TestVectors) import SecurePushEnvelope
import Testing

/// `Clients/vectors/e2e.json`, which comes from a reference in Python: what is opened, and what is sealed.
@Suite struct EnvelopeVectorTests {
    private static func cases() throws -> [StrictJSON] {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../vectors/e2e.json")
        return try StrictJSON(Data(contentsOf: path))["cases"]?.elements ?? []
    }

    private static let codes: [EnvelopeError: String] = [
        .unopenable: "SP-DECRYPT", .wrongSender: "SP-SENDER", .notForThisDevice: "SP-KEY", .replayed: "SP-REPLAY",
        .expired: "SP-EXPIRED",
    ]

    @Test func everyEnvelopeIsOpenedOrRefusedAsExpected() throws {
        var count = 0
        for vector in try Self.cases() {
            let name = vector["name"]?.text ?? ""
            let expect = try #require(vector["expect"])
            do throws(EnvelopeError) {
                count += 1
                guard let opened = try Self.open(vector) else {
                    #expect(expect["encrypted"]?.boolean == false || expect["reason"]?.text == "SP-PLAIN", "\(name)")
                    continue
                }
                #expect(expect["opened"]?.boolean == true, "\(name)")
                #expect(opened.content == expect["content"]?.text.map { Data($0.utf8) }, "\(name)")
                #expect(opened.id.uuidString.lowercased() == expect["id"]?.text, "\(name)")
                #expect(opened.expiresAt.map { "\($0)" } == expect["exp"]?.number, "\(name)")
            } catch {
                #expect(expect["reason"]?.text == Self.codes[error], "\(name): \(error)")
            }
        }
        #expect(count >= 400)
    }

    /// What the SDK does with these values, without its store.
    ///
    /// - Returns: `nil` for a payload that is no envelope.
    private static func open(_ vector: StrictJSON) throws(EnvelopeError) -> OpenedEnvelope? {
        guard let payload = vector["payload"]?.text, let envelope = try Envelope(payload: payload) else { return nil }
        let keys = (vector["privateKeys"]?.elements ?? []).compactMap { privateKey($0) }
        var senders: SenderKeys?
        if let set = vector["senderKeys"], !set.isNull {
            senders = try? SenderKeys(jwkSet: set.text.map { Data($0.utf8) } ?? set.json)
            if senders == nil { throw .wrongSender }
        }
        let opened = try envelope.open(
            for: vector["recipient"]?.text ?? "", device: vector["device"]?.text ?? "", with: keys, senderKeys: senders)
        let isReplay = (vector["opened"]?.elements ?? []).contains { before in
            before["id"]?.text?.lowercased() == opened.id.uuidString.lowercased()
                && before["notification"]?.text != vector["notification"]?.text
        }
        let now = vector["nowMs"]?.number.flatMap { Int($0) } ?? 0
        try opened.verify(wasOpenedBefore: isReplay, now: now / 1_000)
        return opened
    }

    @Test func everyEnvelopeIsSealedAsTheReferenceDoes() throws {
        var count = 0
        for vector in try Self.cases() {
            guard let sealing = vector["sealing"], !sealing.isNull, let expected = vector["payload"]?.text else {
                continue
            }
            var randomness = EnvelopeRandomness()
            randomness.id = try #require(sealing["id"]?.text.flatMap { UUID(uuidString: $0) })
            randomness.createdAt = try #require(sealing["at"]?.number.flatMap { Int($0) })
            randomness.contentKey = try #require(Self.bytes(sealing["contentKey"]))
            randomness.iv = try #require(Self.bytes(sealing["iv"]))
            for (device, key) in sealing["ephemeralKeys"]?.members ?? [] {
                let ephemeral: EnvelopeSoftwareKey = try #require(Self.privateKey(key))
                randomness.ephemeralKeys[device] = ephemeral
            }
            var devices: [String: EnvelopeKey] = [:]
            for (device, key) in sealing["devices"]?.members ?? [] { devices[device] = try EnvelopeKey(jwk: key.json) }
            var sender: SenderKey?
            if let key = Self.bytes(sealing["sender"]?["key"]?["d"]) {
                sender = try SenderKey(rawRepresentation: key, id: sealing["sender"]?["from"]?.text)
            }
            let expiry = sealing["exp"]?.number.flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0) }
            let sealed = try Envelope.seal(
                Data((sealing["content"]?.text ?? "").utf8), for: vector["recipient"]?.text ?? "", devices: devices,
                expiresAt: expiry, signedBy: sender, with: randomness)
            // An ECDSA signature is another one each time; opening verifies it.
            let (own, reference) = (
                sealed.components(separatedBy: #""sig":"#), expected.components(separatedBy: #""sig":"#)
            )
            #expect(own.first == reference.first && own.count == reference.count, "\(vector["name"]?.text ?? "")")
            count += 1
        }
        #expect(count >= 100)
    }

    private static func privateKey(_ jwk: StrictJSON) -> EnvelopeSoftwareKey? {
        bytes(jwk["d"]).flatMap { try? EnvelopeSoftwareKey(rawRepresentation: $0) }
    }

    /// Base64url without padding.
    private static func bytes(_ json: StrictJSON?) -> Data? {
        guard let text = json?.text else { return nil }
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }
}
