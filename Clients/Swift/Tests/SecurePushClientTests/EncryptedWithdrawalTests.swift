import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

/// Notifications that this device cannot open, and withdrawals (`DISPATCH_WITHDRAW=read`), log-outs and pages.
@Suite(.timeLimit(.minutes(10))) struct EncryptedWithdrawalTests {
    private let device = PushDevice(platform: .apns, channel: "AB")

    /// A phone that gets an envelope for another device.
    private func phone() async throws -> SimulatedPhone {
        let phone = try await SimulatedPhone(signer: PushSigner()) { $0.encryptsEndToEnd = true }
        try await phone.client.register(device)
        phone.server.add("01", try envelope(of: phone))
        return phone
    }

    private func envelope(of phone: SimulatedPhone) throws -> String {
        try phone.sender.seal("\"secret\"", to: ["other": EnvelopeSoftwareKey().publicKey])
    }

    private func withdraw(_ id: String, from phone: SimulatedPhone) async {
        await phone.withdraw(id)
    }

    @Test func itsOwnWithdrawalLeavesTheGenericText() async throws {
        let phone = try await phone()
        #expect(await phone.push("01").code == .noKey)
        await withdraw("01", from: phone)
        #expect(await phone.screen.notices.count == 1)
        #expect(phone.requests.contains("HEAD notifications/01"))
        phone.server.change { $0.items[0].isRevoked = true }
        await withdraw("01", from: phone)
        #expect(await phone.screen.notices.isEmpty)
    }

    @Test func theWithdrawalOfAnotherReaderRemovesIt() async throws {
        let phone = try await phone()
        phone.server.change { $0.items[0].isRead = true }
        #expect(await phone.push("01").code == .noKey)
        await withdraw("01", from: phone)
        #expect(await phone.screen.notices.isEmpty)
    }

    /// The withdrawal arrives while the answer is on its way.
    @Test(arguments: [false, true]) func aWithdrawalDuringTheFetch(_ isReadElsewhere: Bool) async throws {
        let phone = try await phone()
        phone.server.change { $0.items[0].isRead = isReadElsewhere }
        phone.server.fail("GET notifications/01", .meanwhile { await withdraw("01", from: phone) })
        _ = await phone.push("01")
        #expect(await phone.screen.notices.isEmpty == isReadElsewhere)
        #expect(try await phone.store.read().unconfirmed.isEmpty)
    }

    @Test func nothingIsShownAfterTheDeviceWasUnregistered() async throws {
        let phone = try await phone()
        phone.server.fail(
            "GET notifications/01",
            .meanwhile { _ = try? await phone.client.unregister() })
        _ = await phone.push("01")
        #expect(await phone.screen.noticed.isEmpty)
    }

    /// A lost answer counts as read by this device, and the clear one after it ends that.
    @Test func theRequestIsAnswered() async throws {
        let phone = try await phone()
        phone.server.fail("GET notifications/01", .hang)
        #expect(await phone.push("01").code == .noKey)
        let id = try #require(PushID("01"))
        let entry = try #require(try await phone.store.read().ledger[id])
        #expect(entry.progress == .gone && entry.isFirstReader && entry.openRequests == 0)
        await withdraw("01", from: phone)
        #expect(await phone.screen.notices.count == 1)
    }

    @Test func aPageOfThem() async throws {
        let phone = try await phone()
        phone.server.add("02", try envelope(of: phone))
        let report = await phone.client.catchUp()
        #expect(report.code == .noKey && report.shown.isEmpty && report.waiting.isEmpty)
        await withdraw("02", from: phone)
        #expect(await phone.screen.notices.count == 2)
        #expect(await phone.client.waiting().isEmpty)
    }
}
