import Foundation
import Testing

@testable import SecurePushClient

/// Without keys for pushes, the push service could have written a withdrawal: the server is asked first.
@Suite(.timeLimit(.minutes(10))) struct UnsignedWithdrawalTests {
    @Test func aForgedOneChangesNothing() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        // Before the push, and after it.
        await phone.withdraw("01")
        #expect(await phone.screen.secrets.keys.sorted() == ["01"])
        #expect(phone.requests.first == "HEAD notifications/01")
        await phone.withdraw("01")
        #expect(await phone.screen.secrets.keys.sorted() == ["01"])
        #expect(try await phone.store.read().unconfirmed.isEmpty)
    }

    @Test func anIDIsNotRememberedUntilTheServerHasConfirmed() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.fail("HEAD", .error(.unreachable), times: 50)
        phone.server.fail("GET notifications?", .error(.unreachable), times: 50)
        await phone.withdraw("01")
        let id = try #require(PushID("01"))
        #expect(try await phone.store.read().ledger[id] == nil)
        phone.server.change { $0.faults = [] }
        #expect(await phone.push("01").shown == [id])
    }

    @Test func theServerConfirmsAGenuineOne() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        _ = await phone.push("01")
        phone.server.change { $0.items[0].isRevoked = true }
        #expect(await phone.withdraw("01").result == .newData)
        #expect(await phone.screen.secrets.isEmpty)
    }

    /// Another device has read it, and the forged withdrawal comes while this one fetches.
    @Test func aForgedOneDuringTheFetchDoesNotEndIt() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.change { $0.items[0].isRead = true }
        phone.server.fail("GET notifications/01", .meanwhile { await phone.withdraw("01") })
        #expect(await phone.push("01").shown.count == 1)
        #expect(await phone.screen.secrets.count == 1)
    }
}
