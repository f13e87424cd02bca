import Domain
import Foundations

@testable import Storage

extension TracedStore {
    /// What a plan calls the tables: by their names, or by the names that the ports give them.
    static let tables = [
        "notifications", "payloads", "outbox", "follow_ups", "silent_pushes", "idempotency_keys", "refresh_tokens",
        "outcome_watch", "installations", "registrations", "device_leases", "device_places", "answers", "n ", "f ",
        "a ",
    ]

    /// One call of each port of notifications. The calls that change rows find one.
    func useNotifications() async throws {
        let id = NotificationID(at: noon)
        let deliveries = [Delivery(platform: .apple, state: .sent, attempts: 1, hubMessageID: "m", updatedAt: noon)]
        try await add(id, deliveries)
        try await useReads(id)
        _ = try await leaseOutcomes(holder: 1, now: noon, until: noon)
        _ = try await saveOutcomes(holder: 1, cursors: [], until: noon)
        try await recordOutcomes([DeliveryOutcomes(id: id, attempt: 1, deliveries: deliveries)])
        let key = SilentPushKey(recipient: .alice, platform: .apple)
        for _ in 0..<2 {
            _ = try await admit([SilentPushRequest(key: key, id: id)], interval: .seconds(1), now: noon)
        }
        try await release(
            [SilentPushRelease(SilentPushGrant(key: key, sequence: 1), isOwed: true)], interval: .seconds(1), now: noon)
        _ = try await revoke(id, sender: "tests", now: noon)
        try await useFollowUps(id)
        for publisher in [Republishing.caller, .relay(traceparent: nil)] {
            _ = try await reopen([id: [.apple]], now: noon, publishedBy: publisher)
        }
        _ = try await resend(id, sender: "tests", now: noon, publishedBy: .caller)
        for time in [due, due + RetentionPolicy.tombstone] {
            _ = try await purge(limit: 9, now: time, maxStep: 9, pause: .zero)
        }
    }

    private func add(_ id: NotificationID, _ deliveries: [Delivery]) async throws {
        try await run(
            """
            INSERT INTO notifications (
                id, sender, recipient, presentation, created_at, expires_at, status, attempt, deliveries
            ) VALUES (
                \(id), \("tests"), \(UserName.alice), 0, \(noon), \(due), 2, 1, \(StorageCoding.encode(deliveries)))
            """)
        try await run(
            """
            INSERT INTO payloads (notification_id, key_id, sealed, purge_at)
            VALUES (\(id), \("k1"), \([1] as [UInt8]), \(due))
            """)
        try await run("INSERT INTO answers (notification_id, options) VALUES (\(id), \("ok"))")
    }

    private func useReads(_ id: NotificationID) async throws {
        for recipient in [nil, UserName.alice] {
            _ = try await page(OperatorQuery(recipient: recipient, onlyFailed: true, limit: 9))
            _ = try await page(NotificationQuery(sender: "tests", recipient: recipient, status: .read), now: noon)
        }
        _ = try await backlog(now: noon)
        _ = try await census(since: noon, now: noon)
        _ = try await life(of: id)
        _ = try await record(id, sender: "tests")
        _ = try await records([id])
        for order in OutcomePass.Order.allCases {
            let after = OutcomeCursor(before: noon)
            _ = try await awaitingOutcome(OutcomeQuery(order: order, after: after, before: due, limit: 9))
        }
        _ = try await payloadBytes(of: [id], recipient: .alice)
        _ = try await states([id], recipient: .alice)
        _ = try await question(id, recipient: .alice)
        _ = try await countWrongChallenge(id)
        let text = SealedPayload(keyID: "k1", bytes: [1])
        _ = try await answer(id, Answer(action: "ok", text: text, at: noon), textUntil: due)
        _ = try await unreadCount(of: .alice, now: noon)
        for unreadOnly in [true, false] {
            _ = try await inbox(of: .alice, unreadOnly: unreadOnly, after: id, limit: 9, now: noon)
        }
    }

    private func useFollowUps(_ id: NotificationID) async throws {
        let withdrawal = FollowUp(id: id, kind: .withdrawal)
        _ = try await leaseFollowUps(limit: 9, now: noon)
        _ = try await claimFollowUps([withdrawal], now: noon)
        try await recordFollowUps([FollowUpOutcome(followUp: withdrawal, attempt: 2, deliveries: [])])
        try await abandonFollowUps([withdrawal])
    }
}
