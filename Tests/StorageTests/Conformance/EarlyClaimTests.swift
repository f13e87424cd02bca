import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct EarlyClaimTests {
    private static let notBefore = noon + .seconds(600)

    private static func scheduled(claimsFirst: Bool = false) -> SealedNotification {
        var sealed = SealedNotification.sample(notBefore: notBefore)
        sealed.claimsFirstAttempt = claimsFirst
        return sealed
    }

    @Test(arguments: conformingStores)
    func `What is not due is not claimed and stays as it is; others of its group are`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let store = test.store
        let (early, other) = (Self.scheduled(), SealedNotification.sample(NotificationID()))
        try await store.append([early, other])
        for seconds in [0, 1, 599] {
            let claims = try await store.claim([early.id, other.id], now: noon + .seconds(seconds))
            #expect(claims.early == [early.id: Self.notBefore])
            #expect(Array(claims.plans.keys) == [other.id] && claims.unreadable.isEmpty)
        }
        #expect(try await test.status(of: early.id) == .accepted)
        #expect(try await test.status(of: other.id) == .queued)
        // The sweep takes it at its time: nobody counts as working on it.
        #expect(try await store.lease(limit: 9, now: Self.notBefore, until: due).map(\.id).contains(early.id))
        let claims = try await store.claim([early.id], now: Self.notBefore)
        #expect(claims.early.isEmpty && claims[early.id]?.attempt == 1)
        #expect(claims[early.id]?.unrecordedClaims == 0)
    }

    @Test(arguments: conformingStores, [0, 1, 86_400])
    func `A NotBefore that has passed changes nothing`(_ kind: StoreKind, _ seconds: Int) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample(expiresAt: due + .seconds(99_999), notBefore: noon)
        try await store.append([sent])
        let claims = try await store.claim([sent.id], now: noon + .seconds(seconds))
        #expect(claims[sent.id] != nil && claims.early.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A message that claims to be the first one does not help`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let early = Self.scheduled(claimsFirst: true)
        try await store.append([early])
        let begun = try await store.begin([early.id], now: noon)
        #expect(begun.plans.isEmpty && begun.early.isEmpty)
        let claims = try await store.claim([early.id], first: [early.id], now: noon)
        #expect(claims.plans.isEmpty && claims.early == [early.id: Self.notBefore])
        let later = try await store.claim([early.id], first: [early.id], now: Self.notBefore)
        #expect(later[early.id]?.attempt == 1)
    }

    @Test(arguments: conformingStores)
    func `A time that cannot be read makes the row unreadable, and no other`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let (bad, other) = (Self.scheduled(), SealedNotification.sample(NotificationID()))
        try await test.store.append([bad, other])
        try await test.execute("UPDATE notifications SET not_before = 9223372036854775807 WHERE not_before > 0")
        let claims = try await test.store.claim([bad.id, other.id], now: noon)
        #expect(Array(claims.unreadable.keys) == [bad.id] && Array(claims.plans.keys) == [other.id])
    }
}
