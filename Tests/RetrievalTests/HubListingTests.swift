import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

/// The hub allows about 60 listings a minute. Registration must not depend on them.
@Suite("Devices: how often the hub is asked for its list")
struct HubListingTests {
    private static let count = 1000

    /// PUTs of as many devices, 50 of each user; 20 at a time.
    private func putAll(_ bench: RetrievalBench, handle: @escaping @Sendable (Int) -> String) async throws -> [Int: Int]
    {
        let tokens = try (0..<20).map { try bench.token("user-\($0)") }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            var statuses: [Int: Int] = [:]
            for number in 0..<Self.count {
                if number >= 20, let status = try await group.next() { statuses[status, default: 0] += 1 }
                group.addTask {
                    try await bench.request(
                        .put, "/api/installations/phone-\(number)", by: tokens[number % 20],
                        body: #"{"platform":"apns","pushChannel":"\#(handle(number))"}"#
                    ).status.code
                }
            }
            for try await status in group { statuses[status, default: 0] += 1 }
            return statuses
        }
    }

    @Test func `Known devices are not listed`() async throws {
        try await withRetrieval { bench in
            for number in 0..<Self.count {
                let owner = try #require(UserName("user-\(number % 20)"))
                let handle = "ab\(number)"
                guard
                    case .leased(let lease) = try await bench.store.lease(
                        .installation, "phone-\(number)", if: .any, now: .now)
                else { return #expect(Bool(false)) }
                let known = Installation(
                    id: lease.id, owner: owner, platform: .apple, handle: handle, document: [], updatedAt: .now)
                #expect(try await bench.store.end(lease, .saveInstallation(known, handles: [handle]), now: .now))
                try await bench.store.settleNewHandle([handle])
            }
            // In the other case they are the same devices.
            let statuses = try await putAll(bench) { $0.isMultiple(of: 2) ? "ab\($0)" : "AB\($0)" }
            #expect(statuses == [200: Self.count])
            try await bench.searchHub()
            #expect(bench.hub.listings == 0)
            #expect(bench.hub.installations.count == Self.count)
        }
    }

    @Test func `New devices register while listings are throttled`() async throws {
        try await withRetrieval { bench in
            bench.hub.failListings(PushGatewayError(.throttled, "slow", retryAfter: .seconds(30)))
            bench.hub.plant("past-us", FakeHub.Installed(handle: "H7", document: "{}"))
            let search = NewHandleSearch(changes: bench.changes, logger: .silent)
            let statuses = try await putAll(bench) { "H\($0)" }
            #expect(statuses == [200: Self.count])
            // No request asks for a list, and the search obeys the hub.
            #expect(bench.hub.listings == 0)
            for tries in 1...3 {
                #expect(await search.searchNext() == .seconds(30))
                #expect(bench.hub.listings == tries)
            }
            #expect(bench.hub.installations["past-us"] != nil)
            // Nothing was lost: once the hub answers, each handle is looked for, once.
            bench.hub.failListings(nil)
            let later = Timestamp.now + .seconds(3600)
            for _ in 0..<Self.count { #expect(await search.searchNext(now: later) == .seconds(3)) }
            #expect(await search.searchNext(now: later) == .seconds(1))
            #expect(bench.hub.listings == Self.count + 3)
            #expect(bench.hub.installations["past-us"] == nil)
            #expect(bench.hub.installations.count == Self.count)
        }
    }

    @Test func `A device that changes hands is not listed again`() async throws {
        try await withRetrieval { bench in
            let body = #"{"platform":"apns","pushChannel":"H"}"#
            #expect(try await bench.install("1", body).status == .ok)
            try await bench.searchHub()
            #expect(bench.hub.listings == 1)
            #expect(try await bench.install("2", body, by: "bob").status == .ok)
            let id = try await bench.newID("?handle=J")
            #expect(try await bench.put(id, #"{"Platform":"apns","Handle":"J"}"#).status == .ok)
            try await bench.searchHub()
            #expect(bench.hub.listings == 2)
        }
    }

    @Test func `A list that the hub refuses is not asked for again`() async throws {
        try await withRetrieval { bench in
            bench.hub.failListings(PushGatewayError(.rejected, "bad filter"))
            #expect(try await bench.install("1", #"{"platform":"apns","pushChannel":"H"}"#).status == .ok)
            try await bench.searchHub()
            #expect(bench.hub.listings == 1)
        }
    }

    @Test func `A device that registers meanwhile is not removed`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("1", #"{"platform":"apns","pushChannel":"H"}"#).status == .ok)
            bench.hub.plant("2", FakeHub.Installed(handle: "H", document: "{}"))
            let bob = try #require(UserName("bob"))
            let claimed = Installation(
                id: "2", owner: bob, platform: .apple, handle: "H", document: [], updatedAt: .now)
            _ = try await bench.store.lease(
                .installation, "2", if: .claimed(by: claimed, handles: ["H"]), now: .now)
            try await bench.searchHub()
            #expect(Set(bench.hub.installations.keys) == ["1", "2"])
        }
    }
}
