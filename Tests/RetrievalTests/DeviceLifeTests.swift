import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Synchronization
import Testing

@testable import Retrieval

@Suite("Devices whose time has come")
struct DeviceLifeTests {
    private static let staleAfter = Duration.seconds(100)

    private static func body(_ handle: String, expires: Timestamp? = nil) -> String {
        let more = expires.map { #","expirationTime":"\#($0)""# } ?? ""
        return #"{"platform":"apns","pushChannel":"\#(handle)"\#(more)}"#
    }

    private func sweep(_ bench: RetrievalBench, at time: Timestamp = .now) async {
        _ = await DueDeviceSweep(changes: bench.changes, staleAfter: Self.staleAfter, logger: .silent).sweep(now: time)
    }

    @Test func `An installation is removed when its expiration time has passed`() async throws {
        try await withRetrieval { bench in
            let end = Timestamp.now + .seconds(50)
            #expect(try await bench.install("a", Self.body("A", expires: end)).status == .ok)
            #expect(try await bench.install("b", Self.body("B")).status == .ok)
            // Official clients leave out the zone of a time.
            let text = "\(end)".dropLast()
            let zoneless = #"{"platform":"apns","pushChannel":"C","expirationTime":"\#(text)"}"#
            #expect(try await bench.install("c", zoneless).status == .ok)
            await sweep(bench, at: end - .milliseconds(1))
            #expect(bench.hub.installations.count == 3)
            await sweep(bench, at: end)
            #expect(Set(bench.hub.installations.keys) == ["b"])
            #expect(try await bench.store.installations(after: nil, limit: 9).map(\.id) == ["b"])
            #expect(bench.removed("expired") == 2)
            let platforms = try await bench.store.platforms(of: [try #require(UserName("alice"))])
            #expect(platforms.count == 1)
        }
    }

    @Test func `A device that was not seen is removed and is no longer counted`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            let registration = try await bench.newID()
            #expect(try await bench.put(registration, #"{"Platform":"apns","Handle":"R"}"#).status == .ok)
            await sweep(bench)
            #expect(bench.hub.installations.count == 1 && bench.hub.devices.count == 1)
            await sweep(bench, at: .now + Self.staleAfter)
            #expect(bench.hub.installations.isEmpty && bench.hub.devices.isEmpty)
            let platforms = try await bench.store.platforms(of: [try #require(UserName("alice"))])
            #expect(platforms.isEmpty && bench.removed("unseen") == 2)
            // The app registers again when it starts next.
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            try (try await bench.put(registration, #"{"Platform":"apns","Handle":"R"}"#)).expectProblem(404)
        }
    }

    @Test func `A renewal keeps a device without a change`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            let first = try #require(try await bench.store.installation("a")).lastSeenAt
            while Timestamp.now <= first { await Task.yield() }
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            await sweep(bench, at: first + Self.staleAfter)
            #expect(bench.hub.installations.count == 1)
        }
    }

    @Test func `A device that is being changed is left alone`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            let lease = try await bench.store.lease(.installation, "a", if: .any, now: .now)
            guard case .leased(let lease) = lease else { return #expect(Bool(false)) }
            await sweep(bench, at: .now + Self.staleAfter)
            #expect(bench.hub.installations.count == 1)
            #expect(try await bench.store.end(lease, .keep, now: .now))
            await sweep(bench, at: .now + Self.staleAfter)
            #expect(bench.hub.installations.isEmpty)
        }
    }

    @Test func `While the hub fails a due device stays and is removed later`() async throws {
        try await withRetrieval { (bench: RetrievalBench) async throws in
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            bench.hub.failDeletions(PushGatewayError(.unavailable, "down"))
            await sweep(bench, at: .now + Self.staleAfter)
            #expect(try await bench.store.installation("a") != nil)
            bench.hub.failDeletions(nil)
            await sweep(bench, at: .now + Self.staleAfter)
            #expect(try await bench.store.installation("a") == nil)
            #expect(bench.hub.installations.isEmpty && bench.removed("unseen") == 1)
        }
    }

    @Test func `A device that the hub refuses to remove leaves the store`() async throws {
        try await withRetrieval { (bench: RetrievalBench) async throws in
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            bench.hub.failDeletions(PushGatewayError(.rejected, "no"))
            await sweep(bench, at: .now + Self.staleAfter)
            #expect(try await bench.store.installation("a") == nil)
        }
    }

    @Test func `A device that the hub has given up leaves the store and its ID stays`() async throws {
        try await withRetrieval { bench in
            let alice = try #require(UserName("alice"))
            let id = try await bench.newID()
            let body = #"{"Platform":"apns","Handle":"R"}"#
            #expect(try await bench.put(id, body).status == .ok)
            #expect(try await bench.install("a", Self.body("A")).status == .ok)
            bench.hub.failPuts(PushGatewayError(.gone, "given up"))
            for _ in 0..<2 { try (try await bench.put(id, body)).expectProblem(410) }
            let kept = try #require(try await bench.store.registration(id))
            #expect(kept.platform == nil && kept.handle == nil && kept.owner == alice)
            try (try await bench.install("a", Self.body("A"))).expectProblem(410)
            #expect(try await bench.store.installation("a") == nil)
            #expect(try await bench.store.platforms(of: [alice]).isEmpty)
            #expect(bench.removed("gone") == 2)
            #expect(try await bench.store.expiredLeases(limit: 9, now: .now + .seconds(99)).isEmpty)
        }
    }

    @Test func `The hub's feedback removes devices that had the channel then`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("AB")).status == .ok)
            #expect(try await bench.install("b", Self.body("CD"), by: "bob").status == .ok)
            let id = try await bench.newID()
            #expect(try await bench.put(id, #"{"Platform":"wns","Handle":"https://x"}"#).status == .ok)
            let feedback = FakeFeedback()
            let sweep = DeadChannelSweep(changes: bench.changes, feedback: { [("hub", feedback)] }, logger: .silent)
            // Rejected before the device registered: it has the handle since then.
            feedback.add(DeadChannel(handle: "ab", rejectedAt: .now - .seconds(60)))
            _ = await sweep.sweep()
            #expect(bench.hub.installations.count == 2)
            // In the hub's spelling of an APNs token.
            feedback.add(DeadChannel(handle: "ab", rejectedAt: .now + .seconds(1)))
            feedback.add(DeadChannel(handle: "https://x", rejectedAt: .now + .seconds(1)))
            feedback.add(DeadChannel(handle: "unknown", rejectedAt: .now + .seconds(1)))
            _ = await sweep.sweep()
            #expect(Set(bench.hub.installations.keys) == ["b"] && bench.hub.devices.isEmpty)
            #expect(bench.removed("dead_channel") == 2)
        }
    }

    @Test func `Feedback that could not be handled is read again`() async throws {
        try await withRetrieval { (bench: RetrievalBench) async throws in
            #expect(try await bench.install("a", Self.body("AB")).status == .ok)
            let feedback = FakeFeedback()
            feedback.add(DeadChannel(handle: "AB", rejectedAt: .now + .seconds(1)))
            let sweep = DeadChannelSweep(changes: bench.changes, feedback: { [("hub", feedback)] }, logger: .silent)
            bench.hub.failDeletions(PushGatewayError(.unavailable, "down"))
            _ = await sweep.sweep()
            #expect(try await bench.store.installation("a") != nil)
            bench.hub.failDeletions(nil)
            _ = await sweep.sweep()
            #expect(try await bench.store.installation("a") == nil)
            feedback.fail(PushGatewayError(.unauthorized, "no Manage right"))
            #expect(await sweep.sweep() >= .seconds(300))
        }
    }
}

/// Feedback in memory. Its one file has a version for each record.
private final class FakeFeedback: HubFeedback {
    private let state = Mutex((channels: [DeadChannel](), error: PushGatewayError?.none))

    func add(_ channel: DeadChannel) { state.withLock { $0.channels.append(channel) } }
    func fail(_ error: PushGatewayError) { state.withLock { $0.error = error } }

    func feedback(after versions: [String: String]) async throws -> FeedbackPage {
        try state.withLock { state in
            if let error = state.error { throw error }
            let version = "\(state.channels.count)"
            let isKnown = versions["file"] == version
            return FeedbackPage(channels: isKnown ? [] : state.channels, versions: ["file": version])
        }
    }
}
