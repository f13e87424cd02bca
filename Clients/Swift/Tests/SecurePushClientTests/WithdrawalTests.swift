import Foundation
import Testing

@testable import SecurePushClient

@Suite(.timeLimit(.minutes(10))) struct WithdrawalTests {
    private func withdraw(_ id: String, on phone: SimulatedPhone) async -> WakeReport { await phone.withdraw(id) }

    /// A phone whose server signs.
    private func signedPhone(
        isLoggedIn: Bool = true, _ adjust: (inout SecurePushConfiguration) -> Void = { _ in }
    ) async throws -> SimulatedPhone {
        try await SimulatedPhone(isLoggedIn: isLoggedIn, signer: PushSigner(), adjust)
    }

    @Test func aRevokedSecretDisappears() async throws {
        let phone = try await signedPhone()
        phone.server.add("01")
        _ = await phone.push("01")
        phone.server.change { $0.items[0].isRevoked = true }
        #expect(await withdraw("01", on: phone).result == .newData)
        #expect(await phone.screen.secrets.isEmpty)
        // A late copy of the push does not bring it back.
        #expect(await phone.push("01").shown.isEmpty)
        #expect(await phone.screen.shown == ["01"])
    }

    /// `DISPATCH_WITHDRAW=read` withdraws from all devices of the user, the reader included.
    @Test func theFirstReaderKeepsWhatTheOthersLose() async throws {
        let reader = try await signedPhone()
        let other = try await SimulatedPhone(sharing: reader)
        reader.server.add("01")
        _ = await reader.push("01")
        _ = await other.push("01")
        _ = await withdraw("01", on: reader)
        _ = await withdraw("01", on: other)
        #expect(await reader.screen.secrets.count == 1)
        #expect(await other.screen.secrets.isEmpty)
        // A revocation removes it from the reader too.
        reader.server.change { $0.items[0].isRevoked = true }
        _ = await withdraw("01", on: reader)
        #expect(await reader.screen.secrets.isEmpty)
    }

    @Test func aWithdrawalIsConfirmedLaterWhenTheServerDoesNotAnswer() async throws {
        let phone = try await signedPhone()
        phone.server.add("01")
        _ = await phone.push("01")
        phone.server.change { $0.items[0].isRevoked = true }
        phone.server.fail("HEAD", .error(.unreachable), times: 20)
        _ = await withdraw("01", on: phone)
        #expect(await phone.screen.secrets.count == 1)
        phone.server.change { $0.faults = [] }
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.isEmpty)
    }

    @Test func withdrawalsAtTheSameTimeAreConfirmedOnceEach() async throws {
        let phone = try await signedPhone()
        let ids = (100..<110).map(String.init)
        for id in ids { phone.server.add(id) }
        _ = await phone.client.catchUp()
        await withTaskGroup(of: Void.self) { group in
            for id in ids { group.addTask { _ = await withdraw(id, on: phone) } }
        }
        #expect(phone.requests.filter { $0.hasPrefix("HEAD") }.sorted() == ids.map { "HEAD notifications/\($0)" })
        #expect(await phone.screen.secrets.count == 10)
    }

    /// Another device has read them, while nobody was logged in to this one.
    @Test func thePromptGoesWithTheLastNotificationBehindIt() async throws {
        let phone = try await signedPhone(isLoggedIn: false)
        // The session of the device's user has ended.
        try await phone.store.update { $0.owner = "alice" }
        for id in ["01", "02"] {
            phone.server.add(id)
            _ = await phone.push(id)
        }
        _ = await withdraw("01", on: phone)
        #expect(await phone.screen.prompt != nil)
        _ = await withdraw("02", on: phone)
        #expect(await phone.screen.prompt == nil)
        #expect(await phone.screen.prompts.count == 2)
    }

    @Test func aWithdrawalBeforeItsPushPreventsIt() async throws {
        let phone = try await signedPhone()
        _ = await withdraw("01", on: phone)
        phone.server.add("01")
        #expect(await phone.push("01").shown.isEmpty)
        #expect(!phone.requests.contains { $0.hasPrefix("GET notifications/01") })
    }

    @Test func aWithdrawalRemovesTheGenericTextAndEndsTheWait() async throws {
        let phone = try await signedPhone()
        phone.server.fail("GET notifications/01", .error(.unreachable), times: 20)
        _ = await phone.push("01")
        #expect(await phone.screen.notices["01"] != nil)
        _ = await withdraw("01", on: phone)
        #expect(await phone.screen.notices.isEmpty)
        #expect(await phone.client.waiting().isEmpty)
    }

    /// Another device reads while this one fetches: the answer says that it was read.
    @Test func aWithdrawalDuringTheFetchOfALaterReaderWins() async throws {
        let phone = try await signedPhone()
        phone.server.add("01")
        phone.server.change { $0.items[0].isRead = true }
        phone.server.fail("GET notifications/01", .meanwhile { _ = await withdraw("01", on: phone) })
        #expect(await phone.push("01").shown.isEmpty)
        #expect(await phone.screen.secrets.isEmpty)
    }

    /// The withdrawal is the echo of this device's own fetch.
    @Test func aWithdrawalDuringTheFirstFetchDoesNotLoseTheSecret() async throws {
        let phone = try await signedPhone()
        phone.server.add("01")
        phone.server.fail("GET notifications/01", .meanwhile { _ = await withdraw("01", on: phone) })
        #expect(await phone.push("01").shown.count == 1)
        #expect(await phone.screen.secrets.count == 1)
    }

    /// The server marks the notification as read, and its answer is lost. The second answer says that it was read.
    @Test func aLostAnswerDoesNotMakeAnotherDeviceTheReader() async throws {
        let phone = try await signedPhone()
        phone.server.add("01")
        let server = phone.server
        server.change { $0.items[0].isRead = true }
        server.fail("GET notifications/01", .error(.unreachable))
        _ = await phone.push("01")
        _ = await withdraw("01", on: phone)
        #expect(await phone.screen.secrets.count == 1)
    }

    /// The server marks the notification as read, and all answers are lost. Its withdrawal is the echo of this device.
    @Test func theEchoOfALostAnswerDoesNotEndTheWait() async throws {
        let phone = try await phoneThatAsked()
        #expect(await withdraw("01", on: phone).shown.map(\.rawValue) == ["01"])
        #expect(await phone.screen.secrets.count == 1)
        #expect(await phone.screen.notices.isEmpty)
        #expect(phone.requests.contains("HEAD notifications/01"))
    }

    @Test func anEchoThatCannotBeCheckedIsCheckedAtTheNextWake() async throws {
        let phone = try await phoneThatAsked()
        phone.server.fail("", .error(.unreachable), times: 50)
        _ = await withdraw("01", on: phone)
        #expect(await phone.client.waiting().map(\.rawValue) == ["01"])
        #expect(await phone.screen.notices["01"] != nil)
        phone.server.change { $0.faults = [] }
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["01"])
    }

    /// The question has no answer. The fetch of the same wake has one: the sender has revoked the notification.
    @Test func aFetchThatFindsNothingConfirmsAWithdrawal() async throws {
        let phone = try await phoneThatAsked()
        phone.server.change { $0.items[0].isRevoked = true }
        phone.server.fail("HEAD", .response(TransportResponse(status: 400)))
        _ = await withdraw("01", on: phone)
        #expect(await phone.screen.notices.isEmpty)
        #expect(await phone.client.waiting().isEmpty)
        #expect(await phone.screen.noticed.map(\.code) == [.unreachable])
    }

    /// The server has refused the token, so it has marked nothing as read for this device.
    @Test func aWithdrawalEndsWhatWasOnlyRefused() async throws {
        let phone = try await signedPhone()
        phone.server.add("01")
        phone.server.change { $0.token = "other" }
        #expect(await phone.push("01").code == .status(401))
        _ = await withdraw("01", on: phone)
        #expect(await phone.client.waiting().isEmpty)
        #expect(await phone.screen.prompt == nil)
        #expect(!phone.requests.contains { $0.hasPrefix("HEAD") })
    }

    /// The answer with the payloads is lost after the server has marked them as read.
    @Test func theEchoOfALostPageDoesNotEndTheWait() async throws {
        let phone = try await signedPhone { $0.limits.maxSecretsPerPage = 2 }
        for id in ["01", "02", "03"] { phone.server.add(id) }
        phone.server.fail("GET notifications?include=payload", .error(.unreachable), times: 50)
        phone.server.fail("GET notifications/", .error(.unreachable), times: 50)
        _ = await phone.client.catchUp()
        phone.server.change { state in
            for index in state.items.indices { state.items[index].isRead = true }
            state.faults = []
        }
        phone.server.fail("GET notifications?", .response(TransportResponse(status: 400)), times: 2)
        #expect(await withdraw("03", on: phone).result == .newData)
        // The page has two, so this device has not asked for the third.
        #expect(await phone.client.waiting().map(\.rawValue) == ["01", "02"])
        _ = await withdraw("01", on: phone)
        #expect(await withdraw("02", on: phone).shown.count == 2)
        #expect(await phone.screen.shown.sorted() == ["01", "02"])
        #expect(!phone.requests.contains("HEAD notifications/03"))
    }

    /// A phone that has asked for a notification. The server has marked it as read, and no answer has come.
    private func phoneThatAsked() async throws -> SimulatedPhone {
        let phone = try await signedPhone()
        phone.server.add("01")
        phone.server.fail("GET notifications/01", .error(.unreachable), times: 50)
        _ = await phone.push("01")
        phone.server.change { state in
            state.items[0].isRead = true
            state.faults = []
        }
        return phone
    }
}
