import Foundation
import Testing

@testable import SecurePushClient
@testable import SecurePushEnvelope

/// What the client reads in payloads, for the vectors that all SDKs run (`Clients/vectors/e2e.json`).
@Suite(.timeLimit(.minutes(10)), .enabled(if: VectorFolder.isThere)) struct EnvelopeVectorTests {
    @Test func envelopesAreOpened() async throws {
        let cases = try VectorFolder.cases(of: "e2e.json")
        for vector in cases {
            let expected = try vector.object("expect")
            switch try await opening(vector) {
            case .opened(let opened): try check(opened, expected, vector.name)
            case .closed(let code): #expect(code.rawValue == expected["reason"] as? String, "\(vector.name)")
            case .locked, .failed: Issue.record("\(vector.name)")
            }
        }
        #expect(cases.count >= 300)
        print("Vectors, e2e.json: \(cases.count) cases, 0 skipped.")
    }

    private func opening(_ vector: VectorFolder.Vector) async throws -> SecurePushClient.Opening {
        let store = MemoryClientStore()
        for before in try #require(vector.members["opened"] as? [[String: String]]) {
            let id = try #require(before["id"].flatMap { UUID(uuidString: $0) })
            let notification = try #require(before["notification"].flatMap { PushID($0) })
            _ = try await store.remember(EnvelopeRecord(id, under: notification, createdAt: 0))
        }
        let now = TimeInterval(try #require(vector.members["nowMs"] as? Int)) / 1_000
        let phone = try await SimulatedPhone(store: store, isLoggedIn: false) { configuration in
            configuration.requiresEncryption = vector.members["requiresEncryption"] as? Bool ?? false
            configuration.senderKeys = vector.text("senderKeys").flatMap { set in
                // A set that cannot be used accepts nobody.
                (try? SenderKeys(jwkSet: Data(set.utf8))) ?? (try? SenderKeys(jwkSet: Data(SenderKey().jwkSet.utf8)))
            }
        }
        phone.clock.jump(by: now - phone.clock.date.timeIntervalSince1970)
        let keys = try #require(vector.members["privateKeys"] as? [[String: String]]).map { jwk in
            try EnvelopeSoftwareKey(rawRepresentation: try #require(jwk["d"].flatMap { Base64URL.decode($0) }))
        }
        let reader = SecurePushClient.EnvelopeReader(
            userName: try #require(vector.members["recipient"] as? String),
            device: try #require(vector.members["device"] as? String), keys: keys)
        let id = try #require((vector.members["notification"] as? String).flatMap { PushID($0) })
        let payload = try #require(vector.members["payload"] as? String)
        let secret = SecretNotification(id: id, message: nil, json: payload)
        return await phone.client.open(secret) { reader }
    }

    private func check(_ opened: SecretNotification, _ expected: [String: Any], _ name: String) throws {
        #expect(expected["opened"] as? Bool == true, "\(name)")
        #expect(opened.isEncrypted == expected["encrypted"] as? Bool, "\(name)")
        let json = opened.json.trimmingCharacters(in: CharacterSet(charactersIn: " \t\r\n"))
        let content = try #require(expected["content"] as? String)
        #expect(json.utf8.elementsEqual(content.utf8), "\(name)")
        let text = expected["text"] as? String
        #expect(opened.message?.body.utf8.elementsEqual(text?.utf8 ?? "".utf8) == text.map { _ in true }, "\(name)")
        let expires = expected["exp"] as? Int
        #expect(opened.expiresAt?.timeIntervalSince1970 == expires.map(TimeInterval.init), "\(name)")
        if let message = expected["message"] as? [String: Any] { try check(opened.message, message, name) }
    }

    private func check(_ message: PushMessage?, _ expected: [String: Any], _ name: String) throws {
        let message = try #require(message, "\(name)")
        let texts: [(String, String?)] = [
            ("Title", message.title), ("Link", message.link), ("Category", message.category),
            ("Thread", message.thread), ("Level", message.level?.rawValue),
        ]
        for (member, text) in texts { #expect(text == expected[member] as? String, "\(name): \(member)") }
        let actions = expected["Actions"] as? [[String: Any]] ?? []
        #expect(message.actions.map(\.id) == actions.compactMap { $0["Id"] as? String }, "\(name)")
        #expect(message.actions.map(\.title) == actions.compactMap { $0["Title"] as? String }, "\(name)")
        #expect(message.actions.map(\.takesText) == actions.compactMap { $0["Input"] as? Bool }, "\(name)")
    }
}
