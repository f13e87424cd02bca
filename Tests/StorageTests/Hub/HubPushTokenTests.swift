import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct HubPushTokenTests {
    private func token(_ seconds: Int, _ text: String) -> SharedPushToken {
        SharedPushToken(issuedAt: noon + .seconds(seconds), sealed: Array(text.utf8))
    }

    @Test(arguments: hubStores)
    func `A token replaces the one that was read, and no other`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        #expect(try await tables.pushToken(of: "key").token == nil)
        #expect(try await tables.replacePushToken(issuedAt: nil, by: token(0, "a"), of: "key") == token(0, "a"))
        // The slower one gets what the faster one has stored.
        #expect(try await tables.replacePushToken(issuedAt: nil, by: token(1, "b"), of: "key") == token(0, "a"))
        #expect(try await tables.replacePushToken(issuedAt: noon, by: token(2, "c"), of: "key") == token(2, "c"))
        #expect(try await tables.replacePushToken(issuedAt: noon, by: token(3, "d"), of: "key") == token(2, "c"))
        #expect(try await tables.pushToken(of: "key").token == token(2, "c"))
        #expect(try await tables.pushToken(of: "other").token == nil)
    }

    @Test(arguments: hubStores)
    func `Of several who replace at once, one wins, and all get its token`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        for round in 0..<3 {
            let former = try await tables.pushToken(of: "key").token?.issuedAt
            let winners = try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    let mine = token(10 * (round + 1) + number, "\(round) \(number)")
                    group.addTask { try await tables.replacePushToken(issuedAt: former, by: mine, of: "key") }
                }
                return try await group.reduce(into: Set<SharedPushToken>()) { $0.insert($1) }
            }
            #expect(winners.count == 1)
            #expect(try await tables.pushToken(of: "key").token == winners.first)
        }
    }

    @Test(arguments: hubStores)
    func `The database tells its time, and forgets the tokens of keys that are not used`(_ kind: StoreKind) async throws
    {
        let tables = try await kind.openHub()
        let (_, now) = try await tables.pushToken(of: "key")
        #expect((now - Timestamp.now).milliseconds.magnitude < 60_000)
        _ = try await tables.replacePushToken(issuedAt: nil, by: token(0, "old"), of: "old")
        _ = try await tables.replacePushToken(issuedAt: nil, by: token(8 * 86_400, "new"), of: "new")
        #expect(try await tables.pushToken(of: "old").token == nil)
        #expect(try await tables.pushToken(of: "new").token == token(8 * 86_400, "new"))
    }
}
