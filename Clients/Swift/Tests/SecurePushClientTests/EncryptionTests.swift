import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// End-to-end encryption on the device: the key, its registration, and what the user sees.
@Suite(.timeLimit(.minutes(10))) struct EncryptionTests {
    private let device = PushDevice(platform: .apns, channel: "AB")

    private func phone(sharing other: SimulatedPhone? = nil, store: any ClientStore = MemoryClientStore()) async throws
        -> SimulatedPhone
    {
        try await SimulatedPhone(store: store, sharing: other) { $0.encryptsEndToEnd = true }
    }

    private func seal(_ text: String, for recipient: String = "alice", to phones: [SimulatedPhone]) async throws
        -> String
    {
        var keys: [String: EnvelopeKey] = [:]
        for phone in phones { keys.merge(try await phone.registeredKey()) { $1 } }
        let json = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        return try #require(phones.first).sender.seal(json, for: recipient, to: keys)
    }

    @Test func aSecretIsOpenedAndShown() async throws {
        let phone = try await phone()
        try await phone.client.register(device)
        phone.server.add("01", try await seal("Grüße \"4711\"", to: [phone]))
        let report = await phone.push("01")
        #expect(report.shown.count == 1 && report.code == nil)
        #expect(await phone.screen.secrets == ["01": "Grüße \"4711\""])
    }

    @Test func manySecretsOfTheInboxAreOpened() async throws {
        let phone = try await phone()
        try await phone.client.register(device)
        for number in 1...5 { phone.server.add("0\(number)", try await seal("secret \(number)", to: [phone])) }
        #expect(await phone.client.catchUp().shown.count == 5)
        #expect(await phone.screen.secrets["03"] == "secret 3")
        #expect(phone.requests.contains { $0.contains("include=payload") })
    }

    @Test func aDeviceThatWasRegisteredLaterShowsTheGenericTextOnce() async throws {
        let first = try await phone()
        try await first.client.register(device)
        first.server.add("01", try await seal("secret", to: [first]))
        let second = try await phone(sharing: first)
        try await second.client.register(PushDevice(platform: .apns, channel: "CD"))
        let report = await second.push("01")
        #expect(report.code == .noKey && report.waiting.isEmpty)
        let notice = GenericNotice(id: PushID("01"), localizationKey: "securepush.generic", code: .noKey)
        #expect(await second.screen.noticed == [notice])
        // It is final: nothing is fetched again, and the user is not bothered again.
        let fetches = second.requests.count { $0.hasPrefix("GET notifications/01") }
        _ = await second.client.catchUp()
        #expect(second.requests.count { $0.hasPrefix("GET notifications/01") } == fetches)
        _ = await second.push("01")
        #expect(await second.screen.noticed.count == 1)
        #expect(await first.push("01").shown.count == 1)
    }

    @Test func aPhoneWithoutEncryptionShowsNoCiphertext() async throws {
        let first = try await phone()
        try await first.client.register(device)
        first.server.add("01", try await seal("secret", to: [first]))
        let plain = try await SimulatedPhone(sharing: first)
        try await plain.client.register(PushDevice(platform: .apns, channel: "CD"))
        #expect(await plain.push("01").code == .noKey)
        #expect(await plain.screen.secrets.isEmpty)
        #expect(plain.server.change { $0.keys.count } == 1)
    }

    @Test func anEnvelopeForAnotherUserOrChangedOnTheWayIsNotShown() async throws {
        let phone = try await phone()
        try await phone.client.register(device)
        phone.server.add("01", try await seal("secret", for: "bob", to: [phone]))
        phone.server.add(
            "02", try await seal("secret", to: [phone]).replacingOccurrences(of: "\"iv\":\"", with: "\"iv\":\"A"))
        _ = await phone.client.catchUp()
        #expect(Set(await phone.screen.noticed.map(\.code)) == [.unopenable])
        #expect(await phone.screen.secrets.isEmpty)
    }

    @Test func theServiceExtensionOpensItToo() async throws {
        let phone = try await phone()
        try await phone.client.register(device)
        phone.server.add("01", try await seal("secret", to: [phone]))
        phone.server.add("02", try await seal("secret", for: "bob", to: [phone]))
        let handler = NotificationServiceHandler(client: phone.client)
        for (id, expected) in [("01", "secret"), ("02", "SP-DECRYPT")] {
            let content = await withCheckedContinuation { continuation in
                handler.didReceive(IncomingPush(data: ["secureId": id])) { continuation.resume(returning: $0) }
            }
            switch content.kind {
            case .secret(let secret): #expect(secret.text == expected)
            case .generic(let notice): #expect(notice.code?.rawValue == expected)
            default: Issue.record("\(content.kind)")
            }
        }
    }

    @Test func theKeyIsMadeOnceAndRegisteredWhereItIsMissing() async throws {
        let phone = try await phone()
        phone.server.fail("PUT devices", .response(TransportResponse(status: 503)), times: 20)
        let failure = await #expect(throws: SecurePushFailure.self) { try await phone.client.register(device) }
        phone.server.change { $0.faults = [] }
        let id = try await phone.client.register(device)
        #expect(failure == SecurePushFailure(code: .status(503), installationID: id))
        let key = try #require(phone.server.change { $0.keys[id] })
        #expect(key == (try await phone.store.envelopeKey())?.publicKey.jwk)
        // A renewed installation keeps its key.
        phone.clock.jump(by: 8 * 86_400)
        _ = try await phone.client.register(device)
        #expect(phone.server.change { $0.keys[id] } == key)
    }

    @Test func theFileOfTheKeysIsPrivate() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileClientStore(folder: folder)
        #expect(try await store.envelopeKeys() == EnvelopeKeyRing())
        let ring = try await store.changeEnvelopeKeys { $0.renew(at: 1_000) }
        #expect(ring.entries.count == 1)
        // A second process that makes a key at the same time gets the first one.
        let other = FileClientStore(folder: folder)
        #expect(try await !other.replace(EnvelopeKeyRing(), with: ring))
        #expect(try await other.changeEnvelopeKeys { $0.renew(at: 1_000) } == ring)
        let path = folder.appendingPathComponent("key.json").path
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // That of an earlier version.
        try Data("{\"privateKey\":\"AAAA\"}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await store.envelopeKeys() == EnvelopeKeyRing())
        #expect(!FileManager.default.fileExists(atPath: path))
        try await store.changeEnvelopeKeys { $0.renew(at: 1_000) }
        try await store.loseKeys()
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
