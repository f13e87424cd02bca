import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct WithdrawalTests {
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

    @Test(arguments: conformingStores)
    func `Revoking withdraws from the platforms that accepted the push`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
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

    @Test(arguments: conformingStores)
    func `Nothing that no platform accepted is withdrawn`(_ kind: StoreKind) async throws {
        let store = try await kind.open(withdrawals: .read)
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

    @Test(arguments: conformingStores, WithdrawalMode.allCases)
    func `A read withdraws if the delivery says so, a revocation always`(_ kind: StoreKind, _ mode: WithdrawalMode)
        async throws
    {
        let store = try await kind.open(withdrawals: mode)
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

    /// Claims the withdrawal, and stores that some platforms accepted it.
    ///
    /// - Returns: the platforms that were owed.
    private func withdraw(
        _ withdrawal: FollowUp, from platforms: [Platform], _ store: any Store, at now: Timestamp
    ) async throws -> [Platform]? {
        guard let plan = try await store.claimFollowUps([withdrawal], now: now).plans[withdrawal] else { return nil }
        let sent = platforms.map { Delivery.sample($0, .sent) }
        let others = plan.deliveries.filter { !platforms.contains($0.platform) }
        try await store.recordFollowUps([
            FollowUpOutcome(followUp: withdrawal, attempt: plan.attempt, deliveries: others + sent)
        ])
        return plan.owed
    }

    @Test(arguments: conformingStores, [true, false])
    func `A platform gets one withdrawal for a read or a revocation`(_ kind: StoreKind, _ isReadFirst: Bool)
        async throws
    {
        let store = try await kind.open(withdrawals: .read)
        let withdrawal = try await push(store, .sent, [.apple, .windows], isWithdrawnOnRead: true)
        func happens(_ isRead: Bool, _ seconds: Int) async throws {
            if isRead {
                try await store.markRead(withdrawal.id, at: noon + .seconds(seconds))
            } else {
                _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(seconds))
            }
        }
        try await happens(isReadFirst, 1)
        let first = try await withdraw(withdrawal, from: [.apple, .windows], store, at: noon + .seconds(2))
        #expect(first == [.apple, .windows])
        #expect(try await leased(store, at: noon + .seconds(99)) == [])
        try await happens(!isReadFirst, 100)
        // After the expiry too.
        for seconds in [101, 4000] {
            let owed = try await withdraw(withdrawal, from: [], store, at: noon + .seconds(seconds))
            #expect(owed ?? [] == [])
        }
        let record = try #require(try await store.record(withdrawal.id, sender: "tests"))
        #expect(record.deliveries.map(\.withdrawnAt) == [noon, noon])
        _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(102))
        #expect(try await leased(store, at: noon + .seconds(99_999)) == [])
    }

    @Test(arguments: conformingStores)
    func `A revocation during the withdrawal for a read goes only to the rest`(_ kind: StoreKind) async throws {
        let store = try await kind.open(withdrawals: .read)
        let withdrawal = try await push(store, .sent, [.apple, .windows, .browser], isWithdrawnOnRead: true)
        try await store.markRead(withdrawal.id, at: noon + .seconds(1))
        let first = try #require(
            try await store.claimFollowUps([withdrawal], now: noon + .seconds(2)).plans[withdrawal])
        #expect(!first.isRevoked)
        _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(3))
        // The first one's outcome: one platform is done, another one is given up, and one is tried again.
        try await store.recordFollowUps([
            FollowUpOutcome(
                followUp: withdrawal, attempt: first.attempt,
                deliveries: [.sample(.apple, .sent), .sample(.browser, .dead), .sample(.windows, .retrying)],
                nextTry: noon + .seconds(600))
        ])
        #expect(try await leased(store, at: noon + .seconds(4)) == [withdrawal])
        let second = try #require(
            try await store.claimFollowUps([withdrawal], now: noon + .seconds(5)).plans[withdrawal])
        // The one that is done gets no second withdrawal; the one that was given up gets new attempts.
        #expect(second.owed == [.windows, .browser] && second.isRevoked)
    }

    @Test(arguments: conformingStores)
    func `A revocation tries once more what the withdrawal for a read gave up`(_ kind: StoreKind) async throws {
        let store = try await kind.open(withdrawals: .read)
        let withdrawal = try await push(store, .sent, [.apple, .windows], isWithdrawnOnRead: true)
        try await store.markRead(withdrawal.id, at: noon + .seconds(1))
        func end(_ state: DeliveryState, at now: Timestamp) async throws -> [Platform]? {
            guard let plan = try await store.claimFollowUps([withdrawal], now: now).plans[withdrawal] else {
                return nil
            }
            let (done, ended) = (Delivery.sample(.apple, .sent), plan.owed.filter { $0 != .apple })
            let deliveries = ended.map { Delivery(platform: $0, state: state, attempts: 9, updatedAt: now) }
            try await store.recordFollowUps([
                FollowUpOutcome(followUp: withdrawal, attempt: plan.attempt, deliveries: [done] + deliveries)
            ])
            return plan.owed
        }
        #expect(try await end(.dead, at: noon + .seconds(2)) == [.apple, .windows])
        #expect(try await leased(store, at: noon + .seconds(9)) == [])
        _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(10))
        #expect(try await leased(store, at: noon + .seconds(10)) == [withdrawal])
        #expect(try await end(.dead, at: noon + .seconds(11)) == [.windows])
        // It was given up for the revocation too.
        #expect(try await leased(store, at: noon + .seconds(99_999)) == [])
    }

    @Test(arguments: conformingStores)
    func `A revocation is not lost by the end of a claim that did not know of it`(_ kind: StoreKind) async throws {
        let store = try await kind.open(withdrawals: .read)
        let withdrawal = try await push(store, .sent, [.apple], isWithdrawnOnRead: true)
        try await store.markRead(withdrawal.id, at: noon + .seconds(1))
        // Its dispatcher has DISPATCH_WITHDRAW=revoked, and drops it.
        let first = try #require(
            try await store.claimFollowUps([withdrawal], now: noon + .seconds(2)).plans[withdrawal])
        _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon + .seconds(3))
        try await store.recordFollowUps([
            FollowUpOutcome(followUp: withdrawal, attempt: first.attempt, deliveries: [])
        ])
        #expect(try await leased(store, at: noon + .seconds(4)) == [withdrawal])
        let second = try await withdraw(withdrawal, from: [.apple], store, at: noon + .seconds(5))
        #expect(second == [.apple])
        #expect(try await leased(store, at: noon + .seconds(99_999)) == [])
    }

    @Test(arguments: conformingStores)
    func `One that is abandoned is not published again, whatever its row holds`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (withdrawal, other) = (try await push(store), try await push(store))
        for followUp in [withdrawal, other] {
            _ = try await store.revoke(followUp.id, sender: "tests", now: noon)
        }
        try await store.abandonFollowUps([withdrawal, FollowUp(id: NotificationID(), kind: .reminder)])
        #expect(try await leased(store, at: noon + .seconds(99_999)) == [other])
        #expect(try await store.claimFollowUps([withdrawal], now: noon).plans.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `What an error quotes decides nothing`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        var dead = Delivery.sample(.windows, .dead)
        dead.error = #"{"s":"sent","r":1}"#
        dead.isWithdrawnOnRead = true
        let withdrawal = try await push(store, [.sample(.apple, .sent), dead])
        try await store.markRead(withdrawal.id, at: noon)
        #expect(try await leased(store, at: noon + .seconds(9)) == [])
    }

    @Test(arguments: conformingStores, WithdrawalMode.allCases)
    func `A push recorded after the read withdraws by the dispatcher's setting`(
        _ kind: StoreKind, _ mode: WithdrawalMode
    ) async throws {
        let store = try await kind.open(withdrawals: mode)
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

    @Test(arguments: conformingStores)
    func `A claim that does not know of a later push does not end the withdrawal`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
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
        // The platform of the first claim has had it.
        #expect(second.owed == [.windows])
    }

    @Test(arguments: conformingStores)
    func `It is published at growing intervals until claimed, and tried again when told`(_ kind: StoreKind) async throws
    {
        let store = try await kind.open()
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

    @Test(arguments: conformingStores)
    func `It goes with its notification`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let withdrawal = try await push(store)
        _ = try await store.revoke(withdrawal.id, sender: "tests", now: noon)
        _ = try await store.purge(limit: 9, now: noon + .seconds(3600) + RetentionPolicy.tombstone)
        #expect(try await store.record(withdrawal.id, sender: "tests") == nil)
        #expect(try await leased(store, at: noon + .seconds(99)) == [])
        #expect(try await store.claimFollowUps([withdrawal], now: noon).plans.isEmpty)
    }
}

extension DispatchPlan {
    /// The platforms of a withdrawal that have not had it.
    fileprivate var owed: [Platform] {
        (platforms ?? []).filter { platform in
            !deliveries.contains { $0.platform == platform && $0.state.isSettled }
        }
    }
}
