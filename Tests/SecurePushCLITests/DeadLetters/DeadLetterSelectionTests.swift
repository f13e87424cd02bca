import ArgumentParser
import Domain
import Foundations
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct DeadLetterSelectionTests {
    static let id = NotificationID()

    @Test(arguments: [
        ([], [true, true, true]),
        (["--reason", "THROTTLE"], [true, false, false]),
        (["--platform", "apple"], [true, true, false]),
        (["--platform", "windows", "--platform", "fcmv1"], [false, true, false]),
        (["--platform", "apple", "--reason", "503"], [false, true, false]),
        (["--unreadable"], [false, false, true]),
        (["--unreadable", "--reason", "503"], [false, false, false]),
    ])
    func `Filters narrow each other`(arguments: [String], included: [Bool]) throws {
        let letters: [DeadLetter] = [
            .sample(1, Self.id, [.apple], reason: "out of attempts: The hub throttles."),
            // It names no platform, and so is owed to all.
            .sample(2, Self.id, nil, reason: "out of attempts: 503"),
            .sample(3, nil, reason: "unreadable: the body is no notification ID"),
        ]
        let selection = try DeadLetterSelection.parse(arguments)
        #expect(letters.map(selection.includes) == included)
        #expect(selection.isEverything == arguments.isEmpty)
    }

    @Test func `Purging by a filter leaves the rest in its order`() async throws {
        let letters: [DeadLetter] = [.sample(1, Self.id), .sample(2, nil), .sample(3, Self.id), .sample(4, nil)]
        let queue = FakeDeadLetterQueue(letters)
        let scan = DeadLetterScan(queue: queue)
        let purged = try await DeadLettersCommand.Purge.purge(scan, try .parse(["--unreadable"]))
        #expect(purged == 2)
        await queue.close()
        #expect(await queue.letters == [letters[0], letters[2]])
        #expect(try await DeadLettersCommand.Purge.purge(scan, try .parse([])) == 2)
    }

    @Test func `A row tells what the store knows, and nothing of an unreadable body`() async throws {
        let store = memoryStore()
        let id = try await store.addGivenUp()
        let records = try await store.records([id])
        let row = DeadLetterRow(.sample(1, id), records: records, now: .now)
        #expect(row.recipient == "alice" && row.status == "partial" && row.platforms == ["fcmv1"] && row.attempt == 9)
        #expect(row.deadAt == records[id]?.deliveries[1].updatedAt.description)
        let unknown = DeadLetterRow(.sample(1, NotificationID()), records: records, now: .now)
        #expect(unknown.status == "unknown" && unknown.recipient == nil)
        let poison = DeadLetterRow(.sample(1, nil), records: nil, now: .now)
        #expect(try JSONCoding.encode(poison) == #"{"Bytes":7,"Reason":"out of attempts"}"#)
        var table = Table(DeadLetterRow.columns(for: [row, poison]))
        let lines = table.lines([row, poison])
        #expect(lines.count == 3 && lines[2].hasPrefix("unreadable, 7 bytes") && lines[0].contains("ATTEMPT"))
    }

    @Test func `A refusal has no attempt, and its reason is that of every such refusal`() throws {
        let message = DispatchMessage(id: NotificationID(), platforms: [.apple])
        let reason = "the hub answered 400: The payload is not valid..TrackingId:7c1f_G2,TimeStamp:11/27/2026 9:00:00"
        let letter = DeadLetter(tag: 1, message: message, reason: reason, byteCount: 36)
        let row = DeadLetterRow(letter, records: nil, now: .now)
        var table = Table(DeadLetterRow.columns(for: [row]))
        let lines = table.lines([row])
        #expect(!lines[0].contains("ATTEMPT") && lines[1].hasSuffix("400: The payload is not valid"), "\(lines)")
        #expect(row.reason == reason)
    }
}
