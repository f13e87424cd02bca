import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Retrieval

@Suite("GET /api/notifications/{id}?include=unread", .bothWays)
struct UnreadCountTests {
    @Test func `The number is counted after the read`() async throws {
        try await withRetrieval { bench in
            let ids = [try await bench.accept("1"), try await bench.accept("2"), try await bench.accept("3")]
            _ = try await bench.accept("4", for: "bob")
            _ = try await bench.accept("5", expiresAt: .now - .seconds(1))
            for (index, id) in ids.enumerated() {
                let answer = try await bench.get(id, "?include=unread")
                #expect(answer.text.hasPrefix(#"{"Id":"\#(id)","#))
                #expect(answer.text.hasSuffix(#","Payload":\#(index + 1),"Read":false,"Unread":\#(2 - index)}"#))
            }
            let again = try await bench.get(ids[0], "?INCLUDE=unread")
            #expect(again.text.hasSuffix(#","Payload":1,"Read":true,"Unread":0}"#))
        }
    }

    @Test func `Without the parameter the answer is as ever`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            for query in ["", "?", "?_=17", "?x=%zz&Unread=1"] {
                let answer = try await bench.get(id, query)
                #expect(answer.status == .ok && !answer.text.contains("Unread"), "\(query): \(answer.text)")
            }
        }
    }

    @Test(arguments: ["include=", "include", "include=payload", "include=Unread", "include=unread&include=unread"])
    func `Another value is 422 and marks nothing`(_ query: String) async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let answer = try await bench.get(id, "?" + query)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/include"])
            try (try await bench.request(.get, "/api/notifications/\(id)?\(query)", by: nil)).expectProblem(401)
            #expect(try await bench.get(id).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test func `HEAD marks nothing`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let head = try await bench.request(.head, "/api/notifications/\(id)?include=unread", by: try bench.token())
            #expect(head.status == .ok && head.body.readableBytes == 0)
            #expect(try await bench.get(id, "?include=unread").text.hasSuffix(#""Read":false,"Unread":0}"#))
        }
    }
}

extension RetrievalBench {
    /// Fetches a notification of `alice`, with a query.
    func get(_ id: NotificationID, _ query: String = "") async throws -> TestResponse {
        try await request(.get, "/api/notifications/\(id)\(query)", by: try token())
    }
}
