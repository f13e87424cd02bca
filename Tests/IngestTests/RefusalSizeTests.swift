import APITestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Ingest

/// A refusal must not cost much more than the request that caused it.
@Suite("How large refusals are")
struct RefusalSizeTests {
    /// As many unknown members as fit a body of 2 MiB.
    @Test func `A member that is repeated is named once`() async throws {
        let body = "{" + [String](repeating: #""":0"#, count: 400_000).joined(separator: ",") + "}"
        try await withIngest { bench in
            let answer = try await bench.post(body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/", "/Payload", "/Recipient"])
            #expect(answer.text.utf8.count < 1024)
        }
    }

    @Test func `At most a hundred errors are listed`() async throws {
        let names = (0..<5000).map { #""m\#($0)":0"# }.joined(separator: ",")
        try await withIngest { bench in
            let answer = try await bench.post("{\(names)}")
            try answer.expectProblem(422)
            #expect(try answer.pointers().count == 100)
            // Recipient and Payload are missing, too.
            let detail = try #require(try answer.object()["detail"] as? String)
            #expect(detail == "The request has invalid fields; see `errors`. 4902 more are not listed.")
            let recipients = [String](repeating: "0", count: 1000).joined(separator: ",")
            let many = try await bench.post(#"{"Recipients":[\#(recipients)],"Payload":1}"#)
            #expect(try many.pointers().count == 100)
            let rest = try #require(try many.object()["detail"] as? String)
            #expect(rest == "The request has invalid fields; see `errors`. 900 more are not listed.")
        }
    }

    /// DEL is one byte in the request and six in an answer.
    @Test func `A long name is not repeated`() async throws {
        let name = String(repeating: "\u{7F}", count: 1_000_000)
        try await withIngest { bench in
            for body in [#"{"\#(name)":0}"#, #"{"Recipient":"a","Payload":1,"Alert":{"\#(name)":0}}"#] {
                let answer = try await bench.post(body)
                try answer.expectProblem(422)
                #expect(answer.text.utf8.count < 1024)
            }
        }
    }

    @Test func `Queries list at most a hundred errors, too`() async throws {
        try await withIngest { bench in
            let query = (0..<900).map { "p\($0)=1" }.joined(separator: "&")
            let answer = try await bench.client.execute(
                uri: "/api/notifications?\(query)", method: .get,
                headers: [.authorization: bench.credentials.sender])
            try answer.expectProblem(422)
            #expect(try answer.pointers().count == 100)
        }
    }

    @Test(arguments: ["Recipient=%00", "Recipient=a%00b", "Before=%00", "Status=%00", "Limit=%00"])
    func `A NUL is refused by name`(_ parameter: String) async throws {
        try await withIngest { bench in
            let answer = try await bench.client.execute(
                uri: "/api/notifications?\(parameter)", method: .get,
                headers: [.authorization: bench.credentials.sender])
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/" + parameter.prefix { $0 != "=" }])
        }
    }
}
