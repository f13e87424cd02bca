import Foundations
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// Odd answers of HTTP/2, and requests that end before their answer.
@Suite(.timeLimit(.minutes(5))) struct PushHTTP2AnswerTests {
    @Test func `A deadline ends the wait and resets the stream`() async throws {
        try await withHTTP2(answering: { $0.number == 1 ? [] : [.answer(201)] }) { server, client in
            #expect(await client.post(port: server.port).status == 201)
            let result = await client.post(port: server.port, within: .seconds(10))
            #expect(result.failure == .unanswered(reason: "timeout"))
            try await expectEventually { server.resets == 1 }
            // Nothing had come on the connection since the request: it is not trusted any more.
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.connections == 2)
        }
    }

    @Test func `A deadline that has passed sends nothing`() async throws {
        try await withHTTP2(answering: { _ in [.answer(201)] }) { server, client in
            let result = await client.post(port: server.port, within: .zero)
            #expect(result.failure == .notSent(reason: "timeout"))
            #expect(server.connections == 0)
        }
    }

    @Test func `Cancellation ends the wait and resets the stream`() async throws {
        try await withHTTP2(answering: { _ in [] }) { server, client in
            let port = server.port
            let task = Task { await client.post(port: port) }
            try await expectEventually { server.requests.count == 1 }
            task.cancel()
            #expect(await task.value.failure == .unanswered(reason: "cancelled"))
            try await expectEventually { server.resets == 1 }
        }
    }

    @Test func `A request of a cancelled task ends at once`() async throws {
        try await withHTTP2(maxStreams: 0, answering: { _ in [] }) { server, client in
            let port = server.port
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await client.post(port: port)
            }
            #expect(await task.value.failure == .notSent(reason: "cancelled"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `Of 10 MB at most 64 KiB are read`() async throws {
        let body = [UInt8](repeating: 7, count: 10_000_000)
        try await withHTTP2(answering: { request in
            request.number == 0 ? [.answer(200, body: body)] : [.answer(201)]
        }) { server, client in
            let response = try await client.post(port: server.port).get()
            #expect(response.status == 200 && response.body == [UInt8](repeating: 7, count: 65_536))
            try await expectEventually { server.resets == 1 }
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.connections == 1)
        }
    }

    /// More than the connection's window in all: it is opened again.
    @Test func `Large answers one after another`() async throws {
        let body = [UInt8](repeating: 7, count: 60_000)
        try await withHTTP2(answering: { _ in [.answer(200, body: body)] }) { server, client in
            for _ in 0..<40 {
                let response = try await client.post(port: server.port).get()
                #expect(response.body.count == 60_000)
            }
            #expect(server.connections == 1)
        }
    }

    @Test func `A body that never ends counts as far as it came`() async throws {
        try await withHTTP2(answering: { request in
            request.number == 0 ? [.answer(201)] : [.answer(410, body: [1, 2, 3], ends: false)]
        }) { server, client in
            // The time until the deadline is not for connecting.
            #expect(await client.post(port: server.port).status == 201)
            let response = try await client.post(port: server.port, within: .seconds(10)).get()
            #expect(response.status == 410 && response.body == [1, 2, 3])
            try await expectEventually { server.resets == 1 }
        }
    }

    @Test func `An answer that breaks off counts as far as it came`() async throws {
        try await withHTTP2(answering: { request in
            request.number == 0 ? [.answer(410, body: [1], ends: false), .close] : [.answer(201)]
        }) { server, client in
            #expect(await client.post(port: server.port).status == 410)
            #expect(await client.post(port: server.port).status == 201)
        }
    }

    @Test func `A redirect is an answer`() async throws {
        try await withHTTP2(answering: { _ in
            [.answer(307, headers: [("location", "https://push.test:1/elsewhere")])]
        }) { server, client in
            let response = try await client.post(port: server.port).get()
            #expect(response.status == 307 && response["location"] == "https://push.test:1/elsewhere")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `Interim answers are skipped`() async throws {
        try await withHTTP2(answering: { _ in
            [.answer(103, headers: [("link", "x")], ends: false), .answer(100, ends: false), .answer(201)]
        }) { server, client in
            let response = try await client.post(port: server.port).get()
            #expect(response.status == 201 && response["link"] == nil)
        }
    }

    /// HPACK makes little of it on the wire.
    @Test func `A flood of header fields ends the connection`() async throws {
        let field = ("x-flood", String(repeating: "x", count: 1000))
        try await withHTTP2(answering: { request in
            request.number == 0
                ? [.answer(200, headers: Array(repeating: field, count: 100))] : [.answer(201)]
        }) { server, client in
            #expect(await client.post(port: server.port).isUnanswered)
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.connections == 2)
        }
    }

    @Test func `A wrong answer to one request leaves the others alone`() async throws {
        try await withHTTP2(answering: { request in
            request.path == "/wrong" ? [.answer(200, headers: [("content-length", "9")], body: [1])] : []
        }) { server, client in
            async let other = client.post("/other", port: server.port)
            try await expectEventually { server.requests.count == 1 }
            #expect(await client.post("/wrong", port: server.port).status == 200)
            server.answer(server.requests[0])
            #expect(await other.status == 201)
        }
    }

    // MARK: The end

    @Test func `Closing lets requests in flight end`() async throws {
        try await withHTTP2(answering: { _ in [] }) { server, client in
            async let result = client.post(port: server.port)
            try await expectEventually { server.requests.count == 1 }
            async let end: Void = client.close(deadline: .now + .seconds(60))
            try await expectEventually {
                // Before the end has begun, it is a request that gets no answer.
                let late = await client.post(port: server.port, within: .milliseconds(100))
                return late.failure == .notSent(reason: "the client is closing")
            }
            server.answer(server.requests[0])
            #expect(await result.status == 201)
            await end
            try await expectEventually { server.openConnections == 0 }
        }
    }

    @Test func `Closing ends at its deadline`() async throws {
        try await withHTTP2(answering: { _ in [] }) { server, client in
            async let result = client.post(port: server.port)
            try await expectEventually { server.requests.count == 1 }
            await client.close(deadline: .now + .milliseconds(100))
            #expect(await result.failure == .unanswered(reason: "the client is closing"))
            try await expectEventually { server.openConnections == 0 }
        }
    }
}
