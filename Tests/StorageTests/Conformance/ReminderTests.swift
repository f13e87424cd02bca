import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct ReminderTests {
    /// Stores a notification with reminders after 30 s and 60 s, unless a test says otherwise.
    private func store(
        _ store: any Store, remind: [Duration] = [.seconds(30), .seconds(60)], expiresAt: Timestamp? = nil
    ) async throws -> FollowUp {
        let sent = SealedNotification.sample(expiresAt: expiresAt, remind: remind)
        try await store.append([sent])
        return FollowUp(id: sent.id, kind: .reminder)
    }

    /// Claims the notification and records that these platforms accepted the push.
    private func push(
        _ store: any Store, _ reminder: FollowUp, at time: Timestamp = noon, _ platforms: [Platform] = [.apple]
    ) async throws {
        let plan = try #require(try await store.claim([reminder.id], now: time)[reminder.id])
        #expect(plan.remind.count > 0)
        let deliveries = platforms.map { Delivery(platform: $0, state: .sent, attempts: 1, updatedAt: time) }
        try await store.record([
            DispatchOutcome(id: reminder.id, attempt: plan.attempt, deliveries: deliveries, pushedAt: time)
        ])
    }

    private func isDue(_ store: any Store, _ reminder: FollowUp, at now: Timestamp) async throws -> Bool {
        try await store.leaseFollowUps(limit: 9, now: now) == [OutboxEntry(id: reminder.id, kind: .reminder)]
    }

    private func progress(_ store: any Store, _ reminder: FollowUp) async throws -> ReminderProgress? {
        try await store.record(reminder.id, sender: "tests")?.reminders
    }

    @Test(arguments: conformingStores)
    func `Each step is due after the last push, and can be claimed once`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let reminder = try await self.store(store)
        #expect(try await progress(store, reminder) == ReminderProgress(sent: 0))
        try await push(store, reminder, [.apple, .windows])
        #expect(try await progress(store, reminder) == ReminderProgress(sent: 0, next: noon + .seconds(30)))
        #expect(try await store.claimFollowUps([reminder], now: noon + .seconds(99)).plans.isEmpty)
        #expect(try await isDue(store, reminder, at: noon + .seconds(29)) == false)
        #expect(try await isDue(store, reminder, at: noon + .seconds(30)))

        let first = try #require(
            try await store.claimFollowUps([reminder], now: noon + .seconds(40)).plans[reminder])
        #expect(first.work == .reminder(step: 1) && first.platforms == [.apple, .windows])
        #expect(try await store.claimFollowUps([reminder], now: noon + .seconds(41)).plans.isEmpty)
        #expect(try await progress(store, reminder) == ReminderProgress(sent: 0, next: noon + .seconds(100)))
        #expect(try await isDue(store, reminder, at: noon + .seconds(99)) == false)
        #expect(try await isDue(store, reminder, at: noon + .seconds(100)))
        let second = try #require(
            try await store.claimFollowUps([reminder], now: noon + .seconds(100)).plans[reminder])
        #expect(second.work == .reminder(step: 2) && second.deliveries == [])
        #expect(try await progress(store, reminder) == ReminderProgress(sent: 0))
        #expect(try await isDue(store, reminder, at: noon + .seconds(3000)) == false)
    }

    @Test(arguments: conformingStores)
    func `Of many claims at once one gets the step`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let reminder = try await self.store(store)
        try await push(store, reminder)
        #expect(try await isDue(store, reminder, at: noon + .seconds(30)))
        let claims = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask { try await store.claimFollowUps([reminder], now: noon + .seconds(31)).plans.count }
            }
            return try await group.reduce(0, +)
        }
        #expect(claims == 1)
    }

    @Test(arguments: conformingStores, 0..<3)
    func `Reading, revoking and expiry end them at once`(_ kind: StoreKind, _ end: Int) async throws {
        let store = try await kind.open()
        let expiresAt = end == 2 ? noon + .seconds(30) : nil
        let (early, late) = (
            try await self.store(store, expiresAt: expiresAt), try await self.store(store, expiresAt: expiresAt)
        )
        try await push(store, early)
        try await push(store, late, at: noon - .seconds(5))
        // This one is published before the end and not claimed yet.
        #expect(try await isDue(store, late, at: noon + .seconds(25)))
        for id in [early.id, late.id] {
            if end == 0 { try await store.markRead(id, at: noon + .seconds(26)) }
            if end == 1 { _ = try await store.revoke(id, sender: "tests", now: noon + .seconds(26)) }
        }
        #expect(try await store.claimFollowUps([early, late], now: noon + .seconds(31)).plans.isEmpty)
        for reminder in [early, late] {
            if end < 2 { #expect(try await progress(store, reminder) == ReminderProgress(sent: 0)) }
        }
        let leased = try await store.leaseFollowUps(limit: 9, now: noon + .seconds(3000))
        #expect(!leased.contains { $0.kind == .reminder })
        #expect(try await store.claimFollowUps([early, late], now: noon + .seconds(3001)).plans.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A step after the expiry is no next one`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let reminder = try await self.store(store, expiresAt: noon + .seconds(80))
        try await push(store, reminder)
        #expect(try await isDue(store, reminder, at: noon + .seconds(30)))
        #expect(try await store.claimFollowUps([reminder], now: noon + .seconds(30)).plans.count == 1)
        #expect(try await progress(store, reminder) == ReminderProgress(sent: 0))
        #expect(try await isDue(store, reminder, at: noon + .seconds(90)) == false)
    }

    @Test(arguments: conformingStores)
    func `A step that was not accepted is tried again, unless the next comes first`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let reminder = try await self.store(store)
        try await push(store, reminder)
        #expect(try await isDue(store, reminder, at: noon + .seconds(30)))
        var plan = try #require(
            try await store.claimFollowUps([reminder], now: noon + .seconds(30)).plans[reminder])
        let retrying = [Delivery.sample(.apple, .retrying)]
        func record(_ nextTry: Timestamp?) async throws {
            try await store.recordFollowUps([
                FollowUpOutcome(
                    followUp: reminder, attempt: plan.attempt, deliveries: retrying, nextTry: nextTry)
            ])
        }
        try await record(noon + .seconds(35))
        #expect(try await isDue(store, reminder, at: noon + .seconds(35)))
        plan = try #require(try await store.claimFollowUps([reminder], now: noon + .seconds(35)).plans[reminder])
        #expect(plan.work == .reminder(step: 1) && plan.deliveries == retrying)
        #expect(try await progress(store, reminder) == ReminderProgress(sent: 0, next: noon + .seconds(95)))
        // Too late: the next step is due at 95.
        try await record(noon + .seconds(95))
        #expect(try await isDue(store, reminder, at: noon + .seconds(94)) == false)
        #expect(try await isDue(store, reminder, at: noon + .seconds(95)))
        let next = try #require(
            try await store.claimFollowUps([reminder], now: noon + .seconds(95)).plans[reminder])
        #expect(next.work == .reminder(step: 2) && next.deliveries == [])
    }

    @Test(arguments: conformingStores)
    func `A step counts as sent once, when the first platform accepts it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let reminder = try await self.store(store, remind: [.seconds(30), .seconds(30), .seconds(30)])
        try await push(store, reminder, [.apple, .windows])
        func claim(_ second: Int) async throws -> Int {
            #expect(try await isDue(store, reminder, at: noon + .seconds(second)))
            let claims = try await store.claimFollowUps([reminder], now: noon + .seconds(second))
            return try #require(claims.plans[reminder]).attempt
        }
        func record(_ attempt: Int, _ apple: DeliveryState, _ windows: DeliveryState, again: Int? = nil)
            async throws
        {
            try await store.recordFollowUps([
                FollowUpOutcome(
                    followUp: reminder, attempt: attempt,
                    deliveries: [.sample(.apple, apple), .sample(.windows, windows)],
                    nextTry: again.map { noon + .seconds($0) })
            ])
        }
        let unanswered = try await claim(30)
        try await record(unanswered, .dead, .dead)
        #expect(try await progress(store, reminder)?.sent == 0)

        let first = try await claim(60)
        try await record(unanswered, .sent, .sent)
        #expect(try await progress(store, reminder)?.sent == 0)
        // The second time as after a connection that was lost before the answer came.
        for _ in 0..<2 { try await record(first, .sent, .retrying, again: 65) }
        #expect(try await progress(store, reminder)?.sent == 1)
        let repeated = try await claim(65)
        try await record(repeated, .sent, .sent)
        #expect(try await progress(store, reminder)?.sent == 1)

        try await record(claim(95), .dead, .sent)
        #expect(try await progress(store, reminder) == ReminderProgress(sent: 2))
    }

    @Test(arguments: conformingStores)
    func `A later push moves the next step`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let reminder = try await self.store(store)
        try await push(store, reminder)
        try await push(store, reminder, at: noon + .seconds(20), [.apple, .windows])
        #expect(try await progress(store, reminder)?.next == noon + .seconds(50))
        #expect(try await isDue(store, reminder, at: noon + .seconds(50)))
        #expect(try await store.claimFollowUps([reminder], now: noon + .seconds(50)).plans.count == 1)
        try await push(store, reminder, at: noon + .seconds(60), [.apple, .windows, .fcmv1])
        #expect(try await progress(store, reminder)?.next == noon + .seconds(120))
    }

    @Test(arguments: conformingStores)
    func `Without Remind there is nothing, and an append with a key keeps them`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (plain, with) = (SealedNotification.sample(), SealedNotification.sample(remind: [.seconds(90)]))
        let request = IdempotentRequest.sample(of: [plain, with])
        _ = try await store.append([plain, with], once: request, now: noon)
        #expect(try await store.record(plain.id, sender: "tests")?.reminders == nil)
        #expect(try await store.record(with.id, sender: "tests")?.reminders == ReminderProgress(sent: 0))
        let plans = try await store.claim([plain.id, with.id], now: noon).plans
        #expect(plans[plain.id]?.remind == [] && plans[with.id]?.remind == [.seconds(90)])
    }
}
