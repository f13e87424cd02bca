import APITestSupport
import Domain
import Foundation
import Foundations
import HummingbirdTesting
import Storage
import TestSupport
import Testing

@testable import Operator

@Suite("Answers in a notification's timeline")
struct AnswerTimelineTests {
    private static let stores: [StoreKind] = [.sqlite, .postgres]

    /// Stores a notification that asks for an answer.
    private func ask(_ bench: OperatorBench) async throws -> NotificationID {
        let alice = try #require(UserName("alice"))
        let notification = Domain.Notification(sender: "clinic", recipient: alice, expiresAt: .now + .seconds(600))
        try await bench.store.append([
            SealedNotification(
                notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]),
                question: Question(options: ["approve", "deny"]))
        ])
        return notification.id
    }

    private func timeline(_ id: NotificationID, _ bench: OperatorBench) async throws -> (
        verdict: String, kinds: [String]
    ) {
        let life = try await bench.get("/admin/api/notifications/\(id)").object()
        let events = try #require(life["Events"] as? [[String: Any]])
        let verdict = try #require(life["Verdict"] as? [String: Any])
        return (verdict["Text"] as? String ?? "", events.compactMap { $0["Kind"] as? String })
    }

    @Test(arguments: stores) func `An answer is shown without its text`(
        _ kind: StoreKind
    ) async throws {
        try await withOperator(kind) { bench in
            let id = try await ask(bench)
            #expect(try await !timeline(id, bench).kinds.contains("answered"))
            let text = SealedPayload(keyID: "k", bytes: Array("Not me".utf8))
            let answer = Answer(action: "deny", text: text, at: .now, deviceID: "phone-1")
            #expect(try await bench.store.answer(id, answer, textUntil: .now + .seconds(600)))
            try await bench.store.markRead(id, at: .now)
            let (verdict, kinds) = try await timeline(id, bench)
            #expect(verdict == "Its recipient has answered: deny." && kinds.contains("answered"))
            let body = try await bench.get("/admin/api/notifications/\(id)").text
            #expect(body.contains("phone-1") && !body.contains("Not me"))
            #expect(body.contains(#""Answer":"deny""#))
        }
    }

    @Test(arguments: stores) func `Too many wrong challenges are a failure`(
        _ kind: StoreKind
    ) async throws {
        try await withOperator(kind) { bench in
            let id = try await ask(bench)
            for _ in 0..<3 { _ = try await bench.store.countWrongChallenge(id) }
            let (verdict, kinds) = try await timeline(id, bench)
            #expect(verdict.contains("too many challenges") && kinds.contains("answer-failed"))
        }
    }
}
