import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// What a device refuses although it could open it: replays, unknown senders, plain text, and what has expired.
@Suite(.timeLimit(.minutes(10))) struct EnvelopeRuleTests {
    private let device = PushDevice(platform: .apns, channel: "AB")

    private func phone(
        store: any ClientStore = MemoryClientStore(), _ adjust: (inout SecurePushConfiguration) -> Void = { _ in }
    ) async throws -> SimulatedPhone {
        let phone = try await SimulatedPhone(store: store) { configuration in
            configuration.encryptsEndToEnd = true
            adjust(&configuration)
        }
        try await phone.client.register(device)
        return phone
    }

    /// Nothing but the generic text is on the screen, and nothing waits.
    private func expectGenericText(_ code: DiagnosticCode, _ id: String, on phone: SimulatedPhone) async {
        #expect(await phone.screen.notices[id]?.code == code)
        #expect(await phone.screen.secrets[id] == nil)
        #expect(await phone.client.waiting().isEmpty)
    }

    @Test func anEnvelopeUnderAnotherNotificationIsAReplay() async throws {
        let phone = try await phone()
        let payload = try await phone.seal("\"Approve 100 EUR\"")
        for id in ["01", "02"] { phone.server.add(id, payload) }
        #expect(await phone.push("01").shown.count == 1)
        #expect(await phone.screen.secrets == ["01": "Approve 100 EUR"])
        await expectGenericText(.replayed, "02", on: phone)
        // In the app, too; and the same notification opens as often as it is asked for.
        let (first, second) = (try #require(PushID("01")), try #require(PushID("02")))
        #expect(try await phone.client.read(first).text == "Approve 100 EUR")
        await #expect(throws: SecurePushFailure(code: .replayed)) { try await phone.client.read(second) }
    }

    @Test func theRecordsOutliveTheUserAndTheProcess() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let phone = try await phone(store: FileClientStore(folder: folder))
        let id = UUID()
        phone.server.add("01", try phone.sender.seal("\"x\"", to: try await phone.registeredKey(), id: id))
        #expect(await phone.push("01").shown.count == 1)
        try await phone.client.logOut()
        try await phone.logIn()
        try await phone.client.register(device)
        // The same content, sealed for the new key.
        phone.server.add("02", try phone.sender.seal("\"x\"", to: try await phone.registeredKey(), id: id))
        _ = await phone.push("02")
        await expectGenericText(.replayed, "02", on: phone)
        let other = FileClientStore(folder: folder)
        let notification = try #require(PushID("01"))
        #expect(try await other.remember(EnvelopeRecord(id, under: notification, createdAt: 0)))
    }

    @Test(arguments: [(86_400, true), (86_401, false)])
    func anEnvelopeOfAnotherDayIsRefused(_ seconds: Int, _ isAccepted: Bool) async throws {
        let phone = try await phone()
        let ninetyDays = 90 * 86_400
        let keys = try await phone.registeredKey()
        phone.server.add("01", try phone.sender.seal("\"x\"", to: keys, age: -seconds))
        phone.server.add("02", try phone.sender.seal("\"x\"", to: keys, age: ninetyDays + (isAccepted ? 0 : 1)))
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.count == (isAccepted ? 2 : 0))
        if !isAccepted { for id in ["01", "02"] { await expectGenericText(.replayed, id, on: phone) } }
    }

    @Test func whatHasExpiredIsNotShown() async throws {
        let phone = try await phone()
        let keys = try await phone.registeredKey()
        phone.server.add("01", try phone.sender.seal("\"x\"", to: keys, expiresIn: 0))
        phone.server.add("02", try phone.sender.seal("\"y\"", to: keys, expiresIn: 60))
        _ = await phone.client.catchUp()
        await expectGenericText(.expired, "01", on: phone)
        #expect(await phone.screen.secrets == ["02": "y"])
        phone.clock.jump(by: 60)
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.isEmpty)
    }

    @Test func onlyKnownSendersAreShown() async throws {
        let (known, stranger) = (SenderKey(), SenderKey())
        let keys = try SenderKeys(jwkSet: Data(known.jwkSet.utf8))
        let phone = try await phone { $0.senderKeys = keys }
        let recipient = try await phone.registeredKey()
        var sender = phone.sender
        for (id, key) in [("01", known), ("02", stranger), ("03", nil)] {
            sender.key = key
            phone.server.add(id, try sender.seal("\"of \(id)\"", to: recipient))
        }
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets == ["01": "of 01"])
        for id in ["02", "03"] { await expectGenericText(.unknownSender, id, on: phone) }
    }

    /// Whoever controls the server or its database can write plain text.
    @Test(arguments: ["\"plain text of the operator\"", #"{"Body":"plain"}"#, "7"])
    func plainTextIsNotShownWhereEncryptionIsRequired(_ payload: String) async throws {
        let phone = try await phone { $0.requiresEncryption = true }
        phone.server.add("01", payload)
        phone.server.add("02", try await phone.seal("\"secret\""))
        #expect(await phone.push("01").code == .notEncrypted)
        await expectGenericText(.notEncrypted, "01", on: phone)
        #expect(await phone.screen.secrets == ["02": "secret"])
        _ = await phone.push("01")
        #expect(await phone.screen.noticed.count == 1)
    }

    /// Without the record, the same content could come again under another notification.
    @Test func whatCannotBeNotedIsNotShown() async throws {
        let store = FaultyStore()
        let phone = try await phone(store: store)
        phone.server.add("01", try await phone.seal("\"secret\""))
        await store.fail(writes: .unwritable)
        #expect(await phone.push("01").code == .notStored)
        #expect(await phone.screen.secrets.isEmpty)
        await store.fail()
        #expect(await phone.client.catchUp().shown.count == 1)
    }

    @Test func theFileOfTheRecordsIsCompleteAgainAfterACrash() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileClientStore(folder: folder)
        let (one, two) = (try #require(PushID("01")), try #require(PushID("02")))
        let records = (0..<3).map { _ in EnvelopeRecord(UUID(), under: one, createdAt: 1_800_000_000) }
        for record in records { #expect(try await store.remember(record)) }
        let file = folder.appendingPathComponent("envelopes")
        #expect(try Data(contentsOf: file).count == 120)
        // The process died while it wrote the last one.
        try Data(contentsOf: file).prefix(95).write(to: file)
        #expect(try await store.remember(EnvelopeRecord(records[2].id, under: two, createdAt: 0)))
        #expect(try Data(contentsOf: file).count == 120)
        for record in records {
            #expect(
                try await store.remember(EnvelopeRecord(record.id, under: two, createdAt: 0)) == (record == records[2]))
        }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func tenThousandRecordsAreKept() throws {
        let (one, two) = (try #require(PushID("01")), try #require(PushID("02")))
        var records = EnvelopeRecords()
        let ids = (0...12_500).map { _ in UUID() }
        var dropped = 0
        for id in ids where records.append(EnvelopeRecord(id, under: one, createdAt: 0)) { dropped += 1 }
        #expect(dropped == 1)
        #expect(records.data.count == 400_000)
        let replay = { (id: UUID) in records.result(of: EnvelopeRecord(id, under: two, createdAt: 0)) }
        #expect(replay(ids[0]) == .new)
        #expect(ids.suffix(10_000).first.map(replay) == .replayed)
    }
}
