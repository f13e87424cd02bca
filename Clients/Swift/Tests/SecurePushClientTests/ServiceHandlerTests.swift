import Foundation
import Testing

@testable import SecurePushClient

/// The deliveries of a handler, in order.
private final class Deliveries: @unchecked Sendable {
    // Unchecked: the lock guards all that changes.
    private let lock = NSLock()
    private var contents: [ServiceContent] = []

    func add(_ content: ServiceContent) { lock.withLock { contents.append(content) } }
    var all: [ServiceContent] { lock.withLock { contents } }

    /// Waits for as many deliveries.
    func wait(for count: Int) async -> [ServiceContent] {
        while all.count < count { await Task.yield() }
        return all
    }
}

@Suite(.timeLimit(.minutes(10))) struct ServiceHandlerTests {
    private func receive(_ id: String, on phone: SimulatedPhone) async -> ServiceContent? {
        let deliveries = Deliveries()
        let handler = NotificationServiceHandler(client: phone.client)
        handler.didReceive(IncomingPush(userInfo: ["secureId": id])) { deliveries.add($0) }
        return await deliveries.wait(for: 1).first
    }

    /// The handler stores after its completion that a secret was shown.
    private func settle(_ phone: SimulatedPhone, _ id: String) async throws {
        let id = try #require(PushID(id))
        while try await phone.store.read().ledger[id]?.progress != .shown { await Task.yield() }
    }

    @Test func theAlertBecomesTheSecret() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", "\"text\"")
        let content = await receive("01", on: phone)
        guard case .secret(let secret)? = content?.kind else { throw SecurePushFailure(code: .wrongID) }
        #expect(secret.text == "text" && content?.badge == 0)
        try await settle(phone, "01")
        // A reminder of it shows nothing new.
        let again = await receive("01", on: phone)
        #expect(again?.kind == .nothing)
        // Where the system cannot suppress it.
        #expect(
            again?.substitute == GenericNotice(id: secret.id, localizationKey: "securepush.generic", code: .nothingNew))
        #expect(await phone.screen.shown.isEmpty)
    }

    @Test func missedNotificationsComeFromThePresenter() async throws {
        let phone = try await SimulatedPhone()
        for id in ["01", "02", "03"] { phone.server.add(id) }
        _ = await receive("02", on: phone)
        #expect(await phone.screen.shown.sorted() == ["01", "03"])
    }

    @Test func aFailureBecomesTheGenericText() async throws {
        let phone = try await SimulatedPhone()
        phone.server.fail("GET", .hang, times: 50)
        guard case .generic(let notice)? = await receive("01", on: phone)?.kind else {
            throw SecurePushFailure(code: .wrongID)
        }
        #expect(notice.localizationKey == "securepush.generic" && notice.code == .timedOut)
        #expect(phone.clock.uptime <= 26)
        #expect(await phone.screen.noticed.isEmpty)
    }

    @Test func withoutCredentialsItBecomesThePrompt() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        phone.server.add("01")
        guard case .prompt(let prompt)? = await receive("01", on: phone)?.kind else {
            throw SecurePushFailure(code: .wrongID)
        }
        #expect(prompt.ids.map(\.rawValue) == ["01"])
        try await phone.logIn()
        #expect(await phone.client.resumeAfterLogIn().shown.count == 1)
    }

    @Test func aForgedAlertShowsNothingOfItsText() async throws {
        let phone = try await SimulatedPhone(keys: try PushSigner().keys)
        guard case .generic(let notice)? = await receive("01", on: phone)?.kind else {
            throw SecurePushFailure(code: .wrongID)
        }
        #expect(notice.code == .badSignature)
        #expect(phone.requests.isEmpty)
    }

    @Test func theEndOfTheTimeCompletesEverythingOnce() async throws {
        let phone = try await SimulatedPhone()
        let gate = Gate()
        for id in ["01", "02", "03"] {
            phone.server.add(id)
            phone.server.fail("GET notifications/\(id)", .meanwhile { await gate.wait() })
        }
        let deliveries = Deliveries()
        let handler = NotificationServiceHandler(client: phone.client)
        for id in ["01", "02", "03"] {
            handler.didReceive(IncomingPush(userInfo: ["secureId": id])) { deliveries.add($0) }
        }
        while phone.requests.count < 3, !Task.isCancelled { await Task.yield() }
        handler.timeWillExpire()
        #expect(deliveries.all.count == 3)
        handler.timeWillExpire()
        await gate.open()
        // The secrets were not lost: the next wake shows them.
        var shown: [PushID] = []
        while shown.count < 3, !Task.isCancelled { shown += await phone.client.catchUp().shown }
        #expect(deliveries.all.count == 3)
        #expect(await phone.screen.shown.count == 3)
    }

    @Test func fiftyAlertsAtOnceAreAnsweredOnceEach() async throws {
        let phone = try await SimulatedPhone()
        let deliveries = Deliveries()
        let handler = NotificationServiceHandler(client: phone.client)
        for number in 100..<150 {
            phone.server.add("\(number)")
            handler.didReceive(IncomingPush(userInfo: ["secureId": "\(number)"])) { deliveries.add($0) }
        }
        let contents = await deliveries.wait(for: 50)
        let secrets = contents.compactMap { content in
            if case .secret(let secret) = content.kind { secret.id.rawValue } else { nil }
        }
        let shown = await phone.screen.shown + secrets
        #expect(contents.count == 50 && shown.count == 50 && Set(shown).count == 50)
    }

    @Test func beforeTheFirstUnlockOneAlertSaysSo() async throws {
        let store = FaultyStore()
        let phone = try await SimulatedPhone(store: store)
        await store.fail(reads: .locked, writes: .locked)
        guard case .generic(let notice)? = await receive("01", on: phone)?.kind else {
            throw SecurePushFailure(code: .wrongID)
        }
        #expect(notice.localizationKey == "securepush.locked")
        #expect(await receive("02", on: phone)?.kind == .nothing)
    }
}
