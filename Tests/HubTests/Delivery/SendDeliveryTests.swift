import Domain
import Foundation
import Foundations
import HTTPTypes
import Logging
import PushServices
import StackKit
import Storage
import Testing

@testable import Hub

/// The contract of a send (K3).
@Suite struct SendDeliveryTests {
    @Test(
        arguments: [
            (.accepted, .success), (.dropped, .dropped), (.channelThrottled, .channelThrottled),
            (.gone(since: nil), .expiredChannel), (.wrongAddress, .badChannel), (.wrongSender, .wrongToken),
            (.notAllowed, .badChannel), (.tooLarge, .invalidNotificationSize), (.invalid, .invalidNotificationFormat),
        ] as [(PushAnswer, DeliveryOutcome)])
    func `A final answer is the outcome, and nothing is stored`(
        _ answer: PushAnswer, _ outcome: DeliveryOutcome
    ) async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(answer))
            let result = try await bench.send(bench.push("a"))
            #expect(result == [outcome])
            #expect(try await bench.stored() == 0)
            #expect(try await bench.outcomes() == [outcome.rawValue: 1])
        }
    }

    @Test(
        arguments: [
            (.throttled(after: .seconds(7)), 429, 7), (.throttled(after: nil), 429, 1), (.unreachable, 503, 1),
        ] as [(PushAnswer, Int, Int)])
    func `A send of which nothing was pushed is refused, and nothing is stored`(
        _ answer: PushAnswer, _ status: Int, _ wait: Int
    ) async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(answer))
            let refused = await #expect(throws: HubError.self) {
                try await bench.send(bench.push("a"), bench.push("b"))
            }
            #expect(refused?.status.code == status)
            #expect(try #require(refused?.retryAfterSeconds) >= wait)
            let stored = try await bench.stored()
            #expect(stored == 0)
            #expect(try await bench.outcomes().isEmpty)
        }
    }

    @Test(
        arguments: [.throttled(after: .seconds(60)), .unreachable, .failed(after: nil), .credentialRefused]
            as [PushAnswer])
    func `What is not over is stored if another push was accepted`(_ answer: PushAnswer) async throws {
        try await withDelivery { bench in
            bench.connector.plan("b", .answer(answer))
            #expect(try await bench.send(bench.push("a"), bench.push("b")) == [.success, .unknown])
            #expect(try await bench.stored() == 1)
            #expect(try await bench.outcomes() == ["Success": 1, "Unknown": 1])
            try await bench.sweep(after: .seconds(70))
            #expect(bench.connector.handles.sorted() == ["a", "b", "b"])
            #expect(try await bench.stored() == 0)
            #expect(try await bench.outcomes() == ["Success": 2])
        }
    }

    @Test(arguments: [.failed(after: nil), .credentialRefused, .unanswered] as [PushAnswer])
    func `A push service in trouble is no reason to refuse`(_ answer: PushAnswer) async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(answer))
            let result = try await bench.send(bench.push("a"))
            #expect(result == [.unknown])
            #expect(try await bench.stored() == 1)
        }
    }

    @Test func `A scheduled send has no caller who tries again, so all is stored`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.unreachable))
            let result = try await bench.send(bench.push("a"), mayRefuse: false)
            #expect(result == [.unknown])
            #expect(try await bench.stored() == 1)
        }
    }

    @Test func `A broken connection is tried again at once, once`() async throws {
        try await withDelivery { bench in
            bench.connector.plan("a", .answer(.unanswered))
            let result = try await bench.send(bench.push("a"))
            #expect(result == [.success])
            #expect(bench.connector.handles == ["a", "a"])
            bench.connector.plan("b", .answer(.unanswered), .answer(.unanswered))
            #expect(try await bench.send(bench.push("b", message: "n")) == [.unknown])
            #expect(bench.connector.handles == ["a", "a", "b", "b"])
        }
    }

    @Test func `A platform without credentials says so for each device`() async throws {
        try await withDelivery { bench in
            #expect(
                try await bench.send(bench.push("a", .gcm), bench.push("b", .gcm))
                    == [.pnsCredentialError, .pnsCredentialError])
            let stored = try await bench.stored(.gcm)
            #expect(stored == 0)
        }
    }

    /// The answer comes after the send was answered.
    @Test(
        arguments: [(.accepted, "Success", 0), (.throttled(after: .seconds(5)), "Unknown", 1)]
            as [(PushAnswer, String, Int)])
    func `A late answer ends the push that was stored`(
        _ answer: PushAnswer, _ outcome: String, _ stored: Int
    ) async throws {
        try await withDelivery { bench in
            bench.connector.plan("a", .silence)
            async let outcomes = bench.send(bench.push("a"), bench.push("b"))
            try await expectToHold { bench.isAlone(silent: 1) }
            bench.clock.advance(by: .seconds(2))
            #expect(try await outcomes == [.unknown, .success])
            #expect(try await bench.stored() == 1)
            // Nobody else pushes it while its answer may come.
            try await bench.retriesOnly()
            #expect(bench.connector.handles.sorted() == ["a", "b"])
            bench.connector.end("a", answer)
            await bench.delivery.inFlight.waitUntilNone()
            await bench.delivery.ends.waitUntilWritten()
            #expect(try await bench.stored() == stored)
            #expect(try await bench.outcomes()[outcome] != nil)
            try await bench.sweep(after: .seconds(10))
            #expect(try await bench.stored() == 0)
            #expect(try await bench.outcomes() == ["Success": 2])
        }
    }

    /// As after a time without a database, in which no outcome could be written.
    @Test func `A push that is under way is not pushed again by its process when its claim ends`() async throws {
        try await withDelivery { bench in
            bench.connector.plan("a", .silence)
            async let outcomes = bench.send(bench.push("a"), bench.push("b"))
            try await expectToHold { bench.isAlone(silent: 1) }
            bench.clock.advance(by: .seconds(2))
            #expect(try await outcomes == [.unknown, .success])
            bench.clock.advance(by: bench.delivery.settings.claim + .seconds(1))
            try await bench.retriesOnly()
            bench.connector.end("a", .accepted)
            await bench.delivery.inFlight.waitUntilNone()
            await bench.delivery.ends.waitUntilWritten()
            #expect(bench.connector.handles.sorted() == ["a", "b"])
            #expect(try await bench.stored() == 0)
            #expect(try await bench.outcomes() == ["Success": 2])
        }
    }

    @Test func `What waits for its turn when the time is over is stored, and due at once`() async throws {
        var settings = DeliverySettings()
        settings.maxInFlight = 1
        try await withDelivery(settings: settings) { bench in
            bench.connector.answerAll(.silence)
            async let outcomes = bench.send(bench.push("a"), bench.push("b"))
            try await expectToHold { bench.connector.silentCount == 1 && bench.clock.sleeperCount == 1 }
            bench.clock.advance(by: .seconds(2))
            #expect(try await outcomes == [.unknown, .unknown])
            bench.connector.answerAll(.answer(.accepted))
            let first = try #require(bench.connector.handles.first)
            bench.connector.end(first, .accepted)
            await bench.delivery.inFlight.waitUntilNone()
            // The other one's turn came, but by then it was the store's.
            #expect(bench.connector.handles == [first])
            try await bench.sweep()
            #expect(bench.connector.handles == [first, first == "a" ? "b" : "a"])
            #expect(try await bench.outcomes() == ["Success": 2])
        }
    }

    @Test func `Without a database a send is refused only if something would have to be stored`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // A store that does not run serves nothing.
        let store = try await openHubTables(
            try StorageConfiguration(url: "sqlite:\(folder.path())/hub.sqlite"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let bench = DeliveryBench(store.tables)
        #expect(try await bench.send(bench.push("a")) == [.success])
        bench.connector.plan("b", .answer(.failed(after: nil)))
        let refused = await #expect(throws: HubError.self) {
            try await bench.send(bench.push("a"), bench.push("b"))
        }
        #expect(refused?.status == .serviceUnavailable && refused?.retryAfterSeconds == 5)
        await bench.delivery.messages.finish()
    }

    @Test func `A stored push keeps all that it needs`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.failed(after: .seconds(1))))
            let expiry = StandingClock.start + .seconds(600)
            let push = bench.push("https://h/1", .browser, expiresAt: expiry)
            try await bench.send(push)
            bench.connector.answerAll(.answer(.accepted))
            try await bench.sweep(after: .seconds(3))
            let requests = bench.connector.requests
            try #require(requests.count == 2)
            #expect(requests[1].address == push.request.address && requests[1].body == [1, 2, 3])
            #expect(requests[1].headers == ["apns-priority": "10"] && requests[1].expiresAt == expiry)
        }
    }
}

/// Waits for a condition, and fails if it does not come to hold.
func expectToHold(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let holds = try await eventually(condition)
    try #require(holds, sourceLocation: sourceLocation)
}

extension DeliveryBench {
    /// Whether a send waits for its silent push services, and for nothing else.
    func isAlone(silent count: Int) -> Bool {
        connector.silentCount == count && delivery.inFlight.count == count && clock.sleeperCount == 1
    }

    /// Looks for stored pushes, without waiting for those of sends.
    func retriesOnly() async throws { _ = await retries.sweep() }
}
