import Foundation
import Testing

@testable import SecurePushClient

/// The process ends between two steps; the next one finds its traces in the store.
@Suite(.timeLimit(.minutes(10))) struct CrashTests {
    /// A phone whose last process left a claim.
    private func afterCrash(isDisplayed: Bool) async throws -> SimulatedPhone {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.change { $0.items[0].isRead = true }
        let id = try #require(PushID("01"))
        let now = phone.clock.uptime
        try await phone.store.update { state in
            state.owner = "alice"
            state.cursor = id
            _ = state.ledger.claim(id, by: "dead", isFirstReader: true, at: now, ClientLimits())
        }
        if isDisplayed {
            try await phone.screen.show(SecretNotification(id: id, text: "secret", json: "\"secret\""))
        }
        return phone
    }

    @Test func aSecretThatWasShownIsNotShownAgain() async throws {
        let phone = try await afterCrash(isDisplayed: true)
        #expect(await phone.client.catchUp().shown.isEmpty)
        #expect(await phone.push("01").shown.isEmpty)
        #expect(await phone.screen.shown == ["01"])
        #expect(phone.server.change { $0.shown } == ["01"])
        #expect(!phone.requests.contains { $0.hasPrefix("GET notifications/01") })
    }

    @Test func aSecretThatWasNotShownIsShown() async throws {
        let phone = try await afterCrash(isDisplayed: false)
        #expect(await phone.client.catchUp().shown.count == 1)
        #expect(await phone.screen.shown == ["01"])
        #expect(phone.clock.uptime >= 10)
    }

    @Test func aSystemThatCannotTellShowsItAgain() async throws {
        let phone = try await afterCrash(isDisplayed: true)
        await phone.screen.forgetWhatIsShown()
        #expect(await phone.client.catchUp().shown.count == 1)
    }

    @Test func aPushForAClaimedSecretWaitsForTheOtherProcess() async throws {
        let phone = try await afterCrash(isDisplayed: false)
        #expect(await phone.push("01").shown.count == 1)
        #expect(await phone.screen.shown == ["01"])
    }

    @Test func whatWasPendingIsFetchedByTheNextProcess() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.change { $0.items[0].isRead = true }
        let id = try #require(PushID("01"))
        try await phone.store.update { state in
            state.owner = "alice"
            state.cursor = id
            _ = state.ledger.learn(id, at: 1_800_000_000, ClientLimits())
        }
        #expect(await phone.client.catchUp().shown == [id])
    }
}
