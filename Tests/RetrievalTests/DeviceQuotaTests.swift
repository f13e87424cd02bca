import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import Retrieval

/// A user has at most 100 installations and registrations together.
@Suite("The number of a user's devices")
struct DeviceQuotaTests {
    private static let alice = UserName("alice")!

    private static func document(_ id: String, _ handle: String) -> String {
        #"{"installationId":"\#(id)","platform":"apns","pushChannel":"\#(handle)"}"#
    }

    private static func fill(_ bench: RetrievalBench, registrations: Int, installations: Int) async throws {
        for number in 0..<registrations {
            try await bench.store.save(
                Registration(
                    id: "r\(number)", owner: Self.alice, platform: .apns, handle: "hr\(number)", updatedAt: .now))
        }
        for number in 0..<installations {
            try await bench.store.save(
                Installation(
                    id: "i\(number)", owner: Self.alice, platform: .apple, handle: "hi\(number)", document: [],
                    updatedAt: .now))
        }
    }

    private static func create(_ bench: RetrievalBench, _ query: String = "") async throws -> TestResponse {
        try await bench.request(.post, "/api/register" + query, by: try bench.token())
    }

    @Test(arguments: [(100, 0), (0, 100), (30, 70)])
    func `The next of either kind is 422`(registrations: Int, installations: Int) async throws {
        try await withRetrieval { bench in
            try await Self.fill(bench, registrations: registrations, installations: installations)
            let created = try await Self.create(bench)
            try created.expectProblem(422)
            #expect(created.text.contains("100 installations and registrations"))
            // An ID that an app has lost cannot be named.
            #expect(created.text.contains("`DELETE /api/devices`"))
            let put = try await bench.request(
                .put, "/api/installations/new", by: try bench.token(), body: Self.document("new", "h"))
            try put.expectProblem(422)
            // The hub was asked for nothing.
            #expect(bench.hub.ids.isEmpty && bench.hub.installations.isEmpty)
            #expect(try await bench.request(.post, "/api/register", by: try bench.token("bob")).status == .ok)
        }
    }

    @Test func `A flood of new IDs ends at 100`() async throws {
        try await withRetrieval { bench in
            let token = try bench.token()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<130 {
                    group.addTask {
                        if number.isMultiple(of: 3) {
                            return try await bench.request(
                                .put, "/api/installations/n\(number)", by: token,
                                body: Self.document("n\(number)", "h\(number)")
                            ).status.code
                        }
                        return try await bench.request(.post, "/api/register", by: token).status.code
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 100)
            #expect(statuses.count { $0 == 422 } == 30)
            #expect(try await bench.store.devices(of: Self.alice, limit: 1000).count == 100)
        }
    }

    @Test func `Renewals are not counted`() async throws {
        try await withRetrieval { bench in
            try await Self.fill(bench, registrations: 50, installations: 49)
            let id = try await bench.newID()
            for handle in ["a", "b", "a"] {
                #expect(try await bench.put(id, #"{"Platform":"apns","Handle":"\#(handle)"}"#).status == .ok)
                let put = try await bench.request(
                    .put, "/api/installations/i1", by: try bench.token(), body: Self.document("i1", "x" + handle))
                #expect(put.status == .ok)
            }
            // A device that starts again with a new ID replaces its former registration.
            #expect(try await Self.create(bench, "?handle=hr7").status == .ok)
            #expect(try await bench.store.registration("r7") == nil)
            try (try await Self.create(bench)).expectProblem(422)
        }
    }

    @Test func `Who has more from before the limit may still replace one`() async throws {
        try await withRetrieval { bench in
            try await Self.fill(bench, registrations: 120, installations: 0)
            #expect(try await Self.create(bench, "?handle=hr7").status == .ok)
            #expect(try await bench.store.registration("r7") == nil)
            #expect(try await bench.store.devices(of: Self.alice, limit: 1000).count == 120)
            for query in ["", "?handle=another"] { try (try await Self.create(bench, query)).expectProblem(422) }
        }
    }

    @Test func `A handle is not taken over by a user without room`() async throws {
        try await withRetrieval { bench in
            try await Self.fill(bench, registrations: 40, installations: 60)
            let bobs = try await bench.request(
                .put, "/api/installations/bobs", by: try bench.token("bob"), body: Self.document("bobs", "hb"))
            #expect(bobs.status == .ok)
            try (try await Self.create(bench, "?handle=hb")).expectProblem(422)
            for id in ["bobs", "mine"] {
                let put = try await bench.request(
                    .put, "/api/installations/\(id)", by: try bench.token(), body: Self.document(id, "hb"))
                try put.expectProblem(422)
            }
            #expect(try await bench.store.installation("bobs")?.owner.text == "bob")
            #expect(bench.hub.installations.keys.sorted() == ["bobs"])
        }
    }
}
