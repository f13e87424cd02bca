import Crypto
import Foundations
import Testing

@testable import PushServices

@Suite struct WebPushEncryptionTests {
    /// Base64url of a vector.
    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decode(text, .url)) }

    /// RFC 8291, section 5 and appendix A.
    private enum Vector {
        static let message = Array("When I grow up, I want to be a watermelon".utf8)
        static let receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
        static let senderKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
        static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
        static let body =
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBr"
            + "u3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    }

    @Test func `The example of RFC 8291`() throws {
        let subscription = try WebPushSubscription(p256dh: Vector.receiver, auth: Vector.auth)
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: Self.bytes(Vector.senderKey))
        let body = WebPushEncryption.encrypt(
            Vector.message, padding: 0, for: subscription, key: key, salt: try Self.bytes(Vector.salt))
        #expect(body == (try Self.bytes(Vector.body)))
    }

    /// The second example has two records, which Web Push does not have.
    @Test func `The first example of RFC 8188`() throws {
        let body = WebPushEncryption.encode(
            Array("I am the walrus".utf8), padding: 0,
            inputKey: SymmetricKey(data: try Self.bytes("yqdlZ-tYemfogSmv7Ws5PQ")),
            salt: try Self.bytes("I1BsxtFttlv3u_Oo94xnmw"), keyID: [])
        let wanted = "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg"
        #expect(body == (try Self.bytes(wanted)))
    }

    @Test(arguments: [
        (0, 128), (1, 128), (128, 128), (129, 512), (512, 512), (513, 1_024), (1_025, 2_048), (2_048, 2_048),
        (2_049, 3_993), (3_993, 3_993),
    ])
    func `The length of a body tells a size class only`(length: Int, size: Int) throws {
        let subscription = try WebPushSubscription(p256dh: Vector.receiver, auth: Vector.auth)
        let body = try #require(try WebPushEncryption.encrypt(Array(repeating: 120, count: length), for: subscription))
        // Header, delimiter and tag.
        #expect(body.count == 86 + size + 1 + 16)
        #expect(body.count <= 4_096)
    }

    @Test func `A message of 3,994 bytes is too large`() throws {
        let subscription = try WebPushSubscription(p256dh: Vector.receiver, auth: Vector.auth)
        #expect(throws: WebPushEncryption.TooLarge.self) {
            try WebPushEncryption.encrypt(Array(repeating: 120, count: 3_994), for: subscription)
        }
    }

    @Test func `Every message has its own salt and key`() throws {
        let subscription = try WebPushSubscription(p256dh: Vector.receiver, auth: Vector.auth)
        let bodies = try (0..<20).map { _ in try WebPushEncryption.encrypt(Vector.message, for: subscription) ?? [] }
        #expect(Set(bodies.map { $0.prefix(16) }).count == 20)
        #expect(Set(bodies.map { $0[21..<86] }).count == 20)
    }

    // MARK: Keys of subscriptions

    @Test(arguments: [
        (Vector.receiver, Vector.auth), (Vector.receiver + "=", Vector.auth + "=="),
        (
            "BCVxsr7N/eNgVRqvHtD0zTZsEc6+VV+JvLexhqUzORcxaOzi6+AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4=",
            "BTBZMqHH6r4Tts7J/aSIgg=="
        ),
    ])
    func `Keys are Base64 of both alphabets, with and without padding`(p256dh: String, auth: String) throws {
        let keys = try WebPushSubscription(p256dh: p256dh, auth: auth)
        #expect(keys.publicPoint == (try Self.bytes(Vector.receiver)))
        #expect(keys.authSecret == (try Self.bytes(Vector.auth)))
    }

    @Test(arguments: [
        "", "A", "p256dh", Vector.auth, String(Vector.receiver.dropLast()), Vector.receiver + "==", "\r\n",
        // Another last digit: the point is not on the curve.
        String(Vector.receiver.dropLast(2)) + "w8", String(repeating: "A", count: 87),
        String(repeating: "B", count: 100_000),
        // A compressed point, and both alphabets in one text.
        "AiVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx",
        "BCVxsr7N/eNgVRqvHtD0zTZsEc6-VV-J" + Vector.receiver.dropFirst(32),
    ])
    func `A p256dh that is no point on the curve is refused`(p256dh: String) {
        #expect(throws: WebPushSubscription.Problem.p256dh) {
            try WebPushSubscription(p256dh: p256dh, auth: Vector.auth)
        }
    }

    @Test(arguments: ["", "auth", Vector.auth + "A", "BTBZMqHH6r4Tts7J_aSI", "BTBZMqHH6r4Tts7J_aSIgh", Vector.receiver])
    func `An auth that is not 16 bytes is refused`(auth: String) {
        #expect(throws: WebPushSubscription.Problem.auth) {
            try WebPushSubscription(p256dh: Vector.receiver, auth: auth)
        }
    }
}
