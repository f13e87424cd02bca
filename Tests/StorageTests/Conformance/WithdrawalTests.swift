import SecurePushCore
import Storage
import Testing

@Suite("Every store: withdrawals")
struct WithdrawalTests {
    /// Stores a notification that a platform has accepted or not.
    ///
    /// - Parameter isWithdrawnOnRead: whether the dispatcher says so, as with `DISPATCH_WITHDRAW=read`.
    private func push(
        _ store: any Store, _ state: DeliveryState = .sent, _ platforms: [Platform] = [.apple],
        isWithdrawnOnRead: Bool = false
    ) async throws -> FollowUp {
        let deliveries = platforms.map { platform in
            var delivery = Delivery.sample(platform, state)
            delivery.isWithdrawnOnRead = isWithdrawnOnRead
            return delivery
        }
        return try await push(store, deliveries)
    }

    /// Stores a notification with the deliveries of its first attempt.
    private func push(_ store: any Store, _ deliveries: [Delivery]) async throws -> FollowUp {
        let sent = try await store.appendClaimed()
        try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: deliveries)])
        return FollowUp(id: sent.id, kind: .withdrawal)
    }

    private func leased(_ store: any Store, at now: Timestamp) async throws -> [FollowUp] {
        try await store.leaseFollowUps(limit: 9, now: now).compactMap { entry in
            entry.kind.map { FollowUp(id: entry.id, kind: $0) }
        }
    }

    @Test("Revoking withdraws from the platforms that accepted the push", arguments: conformingStores)
    func revoke(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let withdrawal = try await push(store, .sent, [.apple, .windows])
            #expect(try await leased(store, at: noon + .seconds(9)) == [])
            _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(10))
            #expect(try await leased(store, at: noon + .seconds(9)) == [])
            #expect(try await leased(store, at: noon + .seconds(10)) == [withdrawal])
            let plan = try #require(
                try await store.claimFollowUps([withdrawal], now: noon + .seconds(11)).plans[withdrawal])
            #expect(plan.work == .withdrawal && plan.platforms == [.apple, .windows])
            #expect(plan.recipient == .alice && plan.isRevoked && !plan.isRead && plan.deliveries == [])
            var sent = Delivery.sample(.windows, .sent)
            sent.updatedAt = noon + .seconds(12)
            try await store.recordFollowUps([
                FollowUpOutcome(followUp: withdrawal, attempt: plan.attempt, deliveries: [sent])
            ])
            let record = try #require(try await store.record(withdrawal.id, sender: "tests"))
            #expect(record.deliveries.map(\.withdrawnAt) == [nil, noon + .seconds(12)])
            #expect(try await leased(store, at: noon + .seconds(99_999)) == [])
            #expect(try await store.claimFollowUps([withdrawal], now: noon + .seconds(13)).plans.isEmpty)
        }
    }

    @Test("Nothing that no platform accepted is withdrawn", arguments: conformingStores)
    func neverPushed(_ kind: StoreKind) async throws {
        try await withStore(kind, withdrawals: .read) { store in
            for state in [DeliveryState.dead, .skipped, .retrying] {
                let withdrawal = try await push(store, state, isWithdrawnOnRead: true)
                try await store.markRead(withdrawal.id, at: noon + .seconds(1))
                _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(2))
            }
            let untried = SealedNotification.sample()
            try await store.append([untried])
            _ = try await store.revoke(untried.id, sender: "tests", now: noon)
            #expect(try await leased(store, at: noon + .seconds(99)) == [])
        }
    }

    @Test(
        "A read withdraws if the delivery says so, a revocation always: the setting is the dispatcher's",
        arguments: conformingStores, WithdrawalMode.allCases)
    func modes(_ kind: StoreKind, _ mode: WithdrawalMode) async throws {
        try await withStore(kind, withdrawals: mode) { store in
            let read = try await push(store, .sent, [.apple, .windows], isWithdrawnOnRead: true)
            let (kept, revoked) = (try await push(store), try await push(store))
            try await store.markRead([kept.id, read.id], at: noon + .seconds(1))
            try await store.markRead([read.id, kept.id], at: noon + .seconds(2))
            _ = try await store.revoke(revoked.id, sender: "tests", now: noon + .seconds(2))
            #expect(try await leased(store, at: noon + .seconds(1)) == [read])
            #expect(try await leased(store, at: noon + .seconds(2)) == [revoked])
            let plan = try #require(try await store.claimFollowUps([read], now: noon + .seconds(9)).plans[read])
            #expect(plan.isRead && !plan.isRevoked && plan.platforms == [.apple, .windows])
            try await store.recordFollowUps([FollowUpOutcome(followUp: read, attempt: plan.attempt, deliveries: [])])
            // Only the first read withdraws.
            try await store.markRead(read.id, at: noon + .seconds(10))
            #expect(try await leased(store, at: noon + .seconds(20)) == [])
        }
    }

    @Test("A revocation withdraws again from the platforms that a read withdrew from", arguments: conformingStores)
    func revokedAfterRead(_ kind: StoreKind) async throws {
        try await withStore(kind, withdrawals: .read) { store in
            let withdrawal = try await push(store, .sent, [.apple, .windows], isWithdrawnOnRead: true)
            try await store.markRead(withdrawal.id, at: noon + .seconds(1))
            let first = try #require(
                try await store.claimFollowUps([withdrawal], now: noon + .seconds(2)).plans[withdrawal])
            let sent = [Delivery.sample(.apple, .sent), .sample(.windows, .sent)]
            let outcome = FollowUpOutcome(followUp: withdrawal, attempt: first.attempt, deliveries: sent)
            try await store.recordFollowUps([outcome])
            #expect(try await leased(store, at: noon + .seconds(99)) == [])

            _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(100))
            #expect(try await leased(store, at: noon + .seconds(100)) == [withdrawal])
            // The first withdrawal can still be in flight.
            try await store.recordFollowUps([outcome])
            let second = try #require(
                try await store.claimFollowUps([withdrawal], now: noon + .seconds(101)).plans[withdrawal])
            #expect(second.platforms == [.apple, .windows] && second.deliveries == [] && second.isRevoked)
            try await store.recordFollowUps([
                FollowUpOutcome(followUp: withdrawal, attempt: second.attempt, deliveries: sent)
            ])
            // A repeated revocation withdraws nothing.
            _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(102))
            #expect(try await leased(store, at: noon + .seconds(999)) == [])
        }
    }

    @Test("What an error quotes decides nothing", arguments: conformingStores)
    func quoted(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            var dead = Delivery.sample(.windows, .dead)
            dead.error = #"{"s":"sent","r":1}"#
            dead.isWithdrawnOnRead = true
            let withdrawal = try await push(store, [.sample(.apple, .sent), dead])
            try await store.markRead(withdrawal.id, at: noon)
            #expect(try await leased(store, at: noon + .seconds(9)) == [])
        }
    }

    @Test(
        "If the push is recorded after the read or the revocation, the dispatcher's setting decides",
        arguments: conformingStores, WithdrawalMode.allCases)
    func late(_ kind: StoreKind, _ mode: WithdrawalMode) async throws {
        try await withStore(kind, withdrawals: mode) { store in
            for isRead in [true, false] {
                let sent = try await store.appendClaimed()
                let withdrawal = FollowUp(id: sent.id, kind: .withdrawal)
                if isRead {
                    try await store.markRead(sent.id, at: noon + .seconds(1))
                } else {
                    _ = try await store.revoke(sent.id, sender: "tests", now: noon + .seconds(1))
                }
                #expect(try await leased(store, at: noon + .seconds(9)) == [])
                let deliveries = [Delivery.sample(.apple, .sent)]
                try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: deliveries)])
                let isWithdrawn = mode.applies(isRevoked: !isRead, isRead: isRead)
                #expect(try await leased(store, at: noon + .seconds(9)) == (isWithdrawn ? [withdrawal] : []))
            }
        }
    }

    @Test("A claim that does not know of a later push is fenced off", arguments: conformingStores)
    func fence(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let withdrawal = try await push(store)
            _ = try await store.claim([withdrawal.id], now: noon)
            _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon)
            let first = try #require(try await store.claimFollowUps([withdrawal], now: noon).plans[withdrawal])
            #expect(first.platforms == [.apple])
            let deliveries = [Delivery.sample(.apple, .sent), .sample(.windows, .sent)]
            try await store.record([DispatchOutcome(id: withdrawal.id, attempt: 2, deliveries: deliveries)])
            try await store.recordFollowUps([
                FollowUpOutcome(
                    followUp: withdrawal, attempt: first.attempt, deliveries: [.sample(.apple, .sent)])
            ])
            #expect(try await leased(store, at: noon + .seconds(1)) == [withdrawal])
            let second = try #require(try await store.claimFollowUps([withdrawal], now: noon).plans[withdrawal])
            #expect(second.platforms == [.apple, .windows] && second.attempt > first.attempt)
        }
    }

    @Test(
        "It is published again at growing intervals until it is claimed, and tried again when told",
        arguments: conformingStores)
    func again(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let withdrawal = try await push(store)
            _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon)
            var time = noon
            for seconds in [30, 60, 120, 240, 480, 960, 1920, 3840, 3840] {
                #expect(try await leased(store, at: time) == [withdrawal])
                #expect(try await leased(store, at: time + .seconds(seconds - 1)) == [])
                time = time + .seconds(seconds)
            }
            let plan = try #require(try await store.claimFollowUps([withdrawal], now: time).plans[withdrawal])
            let retrying = [Delivery.sample(.apple, .retrying)]
            try await store.recordFollowUps([
                FollowUpOutcome(
                    followUp: withdrawal, attempt: plan.attempt, deliveries: retrying, nextTry: time + .seconds(5))
            ])
            #expect(try await leased(store, at: time + .seconds(4)) == [])
            #expect(try await leased(store, at: time + .seconds(5)) == [withdrawal])
            let next = try #require(
                try await store.claimFollowUps([withdrawal], now: time + .seconds(5)).plans[withdrawal])
            #expect(next.deliveries == retrying && next.attempt == plan.attempt + 1)
        }
    }

    @Test("It goes with its notification", arguments: conformingStores)
    func purge(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let withdrawal = try await push(store)
            _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon)
            _ = try await store.purge(limit: 9, now: noon + .seconds(3600) + RetentionPolicy.tombstone)
            #expect(try await store.record(withdrawal.id, sender: "tests") == nil)
            #expect(try await leased(store, at: noon + .seconds(99)) == [])
            #expect(try await store.claimFollowUps([withdrawal], now: noon).plans.isEmpty)
        }
    }
}
