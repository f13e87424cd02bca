import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// What an app shows on its own screens.
@Suite(.timeLimit(.minutes(10))) struct InboxTests {
    private let device = PushDevice(platform: .apns, channel: "AB")

    @Test func theInboxHasNoTextsAndMarksNothing() async throws {
        let phone = try await SimulatedPhone()
        for id in ["01", "02", "03"] { phone.server.add(id) }
        phone.server.change { $0.items[0].isRead = true }
        let page = try await phone.client.inbox()
        #expect(page.entries.map(\.id.rawValue) == ["01", "02", "03"])
        #expect(page.entries.map(\.isRead) == [true, false, false])
        #expect(page.entries[0].createdAt == Date(timeIntervalSince1970: 1_795_249_800.5))
        #expect(page.unread == 2 && !page.hasNext)
        #expect(try await phone.client.inbox(after: PushID("01"), isUnreadOnly: true).entries.count == 2)
        #expect(phone.requests.last == "GET notifications?Limit=200&Unread=true&After=01")
        #expect(phone.server.change { $0.items.filter(\.isRead).count } == 1)
        #expect(await phone.screen.shown.isEmpty)
    }

    @Test func readingGivesTheTextAndSetsTheBadge() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", "\"first\"")
        phone.server.add("02")
        let id = try #require(PushID("01"))
        let secret = try await phone.client.read(id)
        #expect(secret.text == "first" && secret.json == "\"first\"" && !secret.wasRead)
        #expect(await phone.screen.badge == 1)
        #expect(await phone.screen.shown.isEmpty)
        phone.server.change { $0.items[0].isRevoked = true }
        await #expect(throws: SecurePushFailure(code: .status(410))) { try await phone.client.read(id) }
        phone.server.fail("GET", .error(.unreachable), times: 20)
        await #expect(throws: SecurePushFailure(code: .unreachable)) { try await phone.client.read(id) }
        await #expect(throws: SecurePushFailure(code: .unreachable)) { try await phone.client.inbox() }
    }

    @Test func readingOpensWhatIsEncrypted() async throws {
        let phone = try await SimulatedPhone { $0.encryptsEndToEnd = true }
        let device = try await phone.client.register(device)
        let key = try #require(try await phone.store.envelopeKey()).publicKey
        phone.server.add("01", try phone.sender.seal("\"sealed\"", to: [device: key]))
        phone.server.add("02", try phone.sender.seal("\"sealed\"", to: ["other": key]))
        #expect(try await phone.client.read(try #require(PushID("01"))).text == "sealed")
        let other = try #require(PushID("02"))
        await #expect(throws: SecurePushFailure(code: .noKey)) { try await phone.client.read(other) }
    }

    @Test func devicesAreListedAndRemoved() async throws {
        let phone = try await SimulatedPhone()
        let own = try await phone.client.register(device)
        phone.server.change { state in
            state.devicesPerPage = 1
            for id in ["0-tablet", "z.watch"] { state.installations[id] = "" }
        }
        let devices = try await phone.client.devices()
        #expect(devices.map(\.id) == ["0-tablet", own, "z.watch"])
        #expect(devices.map(\.isThisDevice) == [false, true, false])
        #expect(devices[0].platform == "apns" && devices[0].lastSeenAt == Date(timeIntervalSince1970: 1_795_305_600))
        try await phone.client.removeDevice(devices[0].id)
        // It is gone already.
        try await phone.client.removeDevice(devices[0].id)
        #expect(phone.server.change { $0.installations.keys.sorted() } == [own, "z.watch"])
        await #expect(throws: SecurePushFailure(code: .status(404))) { try await phone.client.removeDevice("../x") }
    }

    /// The server compares IDs without regard to case, so a list may have another spelling.
    @Test func removingThisDeviceUnregistersItInAnySpelling() async throws {
        let phone = try await SimulatedPhone()
        let own = try await phone.client.register(device)
        let spelling = own.uppercased()
        phone.server.change { $0.installations = [spelling: ""] }
        #expect(try await phone.client.devices().map(\.isThisDevice) == [true])
        phone.server.change { $0.installations = [own: ""] }
        try await phone.client.removeDevice(spelling)
        #expect(phone.server.change { $0.installations.isEmpty })
        #expect(try await phone.store.read().registration == RegistrationRecord())
        #expect(await phone.credentials.userName() == "alice")
    }

    @Test(arguments: ["../token", "...", "a b", "a/b"]) func anIDThatIsNoneIsMalformed(_ id: String) async throws {
        let phone = try await SimulatedPhone()
        phone.server.change { $0.installations[id] = "" }
        await #expect(throws: SecurePushFailure(code: .malformedAnswer)) { try await phone.client.devices() }
    }

    @Test func signingOutEverywhereNeedsTheServer() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        try await phone.credentials.logIn(userName: "alice", password: "pw")
        try await phone.client.register(device)
        phone.server.change { $0.installations["other"] = "" }
        phone.server.add("01")
        _ = await phone.push("01")
        phone.server.fail("DELETE devices", .error(.unreachable), times: 20)
        await #expect(throws: SecurePushFailure(code: .unreachable)) { try await phone.client.signOutEverywhere() }
        #expect(await phone.credentials.userName() == "alice")
        #expect(await phone.screen.secrets.count == 1)
        phone.server.change { $0.faults = [] }
        try await phone.client.signOutEverywhere()
        #expect(phone.server.change { $0.installations.isEmpty && $0.refreshTokens.isEmpty })
        #expect(await phone.credentials.userName() == nil)
        #expect(await phone.screen.secrets.isEmpty)
        #expect(try await phone.store.credentials() == nil)
    }
}
