import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Ingest

@Suite("Answers in the status")
struct AnswerStatusTests {
    private let time = Timestamp(milliseconds: 1_800_000_000_000)

    /// Stores a notification of `clinic` for `alice` that asks for an answer.
    private func ask(_ bench: DirectoryBench) async throws -> NotificationID {
        let alice = try #require(UserName("alice"))
        let notification = Domain.Notification(sender: "clinic", recipient: alice, expiresAt: .now + .seconds(600))
        try await bench.store.append([
            SealedNotification(
                notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]),
                question: Question(options: ["approve", "deny"]))
        ])
        return notification.id
    }

    private func member(_ id: NotificationID, _ bench: DirectoryBench) async throws -> [String: Any]? {
        try await bench.status(of: id).object()["Answer"] as? [String: Any]
    }

    @Test func `The sender reads the answer and its text`() async throws {
        try await withDirectory { bench in
            let id = try await ask(bench)
            #expect(try await member(id, bench) == nil)
            let alice = try #require(UserName("alice"))
            let text = try bench.sealer.seal(Array("Not \"me\"".utf8), id: id, recipient: alice, as: .answer)
            let given = Answer(action: "deny", text: text, at: time, deviceID: "phone-1")
            #expect(try await bench.store.answer(id, given, textUntil: .now + .seconds(600)))
            let status = try await bench.status(of: id)
            #expect(
                status.text.hasSuffix(
                    #","Answer":{"Action":"deny","Text":"Not \"me\"","At":"2027-01-15T08:00:00.000Z","#
                        + #""DeviceId":"phone-1"}}"#), "\(status.text)")
            #expect(try await bench.status(of: id, authorization: bench.lab).status == .notFound)
            #expect(try await bench.send(.delete, "/api/notifications/\(id)").status == .noContent)
            let revoked = try #require(try await member(id, bench))
            #expect(revoked["Action"] as? String == "deny" && revoked["Text"] == nil)
        }
    }

    @Test func `Too many wrong challenges are told`() async throws {
        try await withDirectory { bench in
            let id = try await ask(bench)
            for _ in 0..<3 { _ = try await bench.store.countWrongChallenge(id) }
            #expect(try await bench.status(of: id).text.hasSuffix(#","Answer":{"Failed":true}}"#))
        }
    }

    @Test func `A text that cannot be opened does not hide the decision`() async throws {
        try await withDirectory { bench in
            let id = try await ask(bench)
            let text = SealedPayload(keyID: "gone", bytes: [UInt8](repeating: 7, count: 40))
            let given = Answer(action: "approve", text: text, at: time)
            #expect(try await bench.store.answer(id, given, textUntil: .now + .seconds(600)))
            let answer = try #require(try await member(id, bench))
            #expect(answer["Action"] as? String == "approve")
            #expect(answer.keys.sorted() == ["Action", "At"])
        }
    }
}
