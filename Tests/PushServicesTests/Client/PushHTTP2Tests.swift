import Foundations
import NIOHPACK
import NIOHTTP2
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// Connections of HTTP/2: streams, SETTINGS, GOAWAY, RST_STREAM and PING, against a server that checks every frame.
@Suite(.timeLimit(.minutes(5))) struct PushHTTP2Tests {
    @Test func `A request and its answer`() async throws {
        try await withHTTP2(answering: { _ in
            [.answer(201, headers: [("location", "/m/1"), ("ttl", "60")], body: Array("hello".utf8))]
        }) { server, client in
            let fields = [
                PushHTTPField("authorization", "bearer x", indexing: .neverIndexed), PushHTTPField("ttl", "60"),
                PushHTTPField("topic", "t", indexing: .notIndexed),
            ]
            let result = await client.post("/push?a=b", port: server.port, headers: fields)
            let response = try result.get()
            #expect(response.status == 201 && response["location"] == "/m/1")
            #expect(response.body == Array("hello".utf8))
            let request = try #require(server.requests.first)
            #expect(request.body == Array("body".utf8))
            let headers = request.headers
            #expect(headers.first(name: ":method") == "POST" && headers.first(name: ":scheme") == "https")
            #expect(headers.first(name: ":authority") == "push.test:\(server.port)" && request.path == "/push?a=b")
            #expect(headers.first(name: "content-length") == "4")
            let indexing = Dictionary(headers.map { ($0.name, "\($0.indexable)") }) { first, _ in first }
            #expect(indexing["authorization"] == "\(HPACKIndexing.neverIndexed)")
            #expect(indexing[":path"] == "\(HPACKIndexing.nonIndexable)")
            #expect(indexing["topic"] == "\(HPACKIndexing.nonIndexable)")
            #expect(indexing["ttl"] == "\(HPACKIndexing.indexable)")
        }
    }

    @Test func `A field whose values differ is indexed once for each connection`() async throws {
        try await withHTTP2({ $0.connectionsPerOrigin = 1 }, answering: { _ in [.answer(201)] }) { server, client in
            for value in ["1", "2", "3"] {
                let field = PushHTTPField("apns-id", value, indexing: .nameIndexed)
                #expect(await client.post(port: server.port, headers: [field]).status == 201)
            }
            let fields = server.requests.compactMap { $0.headers.first { $0.name == "apns-id" } }
            #expect(fields.map(\.value) == ["1", "2", "3"])
            let plain = "\(HPACKIndexing.nonIndexable)"
            #expect(fields.map { "\($0.indexable)" } == ["\(HPACKIndexing.indexable)", plain, plain])
        }
    }

    @Test func `An answer that ends the connection is one of a connection that takes no more`() async throws {
        try await withHTTP2(
            { $0.endsConnection = { $0.status == 503 } },
            answering: { $0.number == 1 ? [.answer(503)] : [.answer(200)] }
        ) { server, client in
            for wanted in [200, 503, 200, 200] {
                #expect(await client.post(port: server.port).status == wanted)
            }
            #expect(server.requests.map(\.connection) == [0, 0, 1, 1])
            try await expectEventually { server.openConnections == 1 }
        }
    }

    @Test func `Many requests share one connection`() async throws {
        try await withHTTP2({ $0.connectionsPerOrigin = 1 }, answering: { _ in [.answer(201)] }) { server, client in
            try await withThrowingDiscardingTaskGroup { group in
                for number in 0..<200 {
                    group.addTask { #expect(await client.post("/\(number)", port: server.port).status == 201) }
                }
            }
            #expect(server.connections == 1 && server.requests.count == 200)
            #expect(Set(server.requests.map(\.path)).count == 200)
        }
    }

    @Test func `A request without a body`() async throws {
        try await withHTTP2(answering: { _ in [.answer(201)] }) { server, client in
            #expect(await client.post(port: server.port, body: []).status == 201)
            #expect(server.requests.first?.body == [])
        }
    }

    // MARK: SETTINGS

    @Test func `One stream at a time if the server says so`() async throws {
        try await withHTTP2(maxStreams: 1, { $0.connectionsPerOrigin = 1 }, answering: { _ in [.answer(201)] }) {
            server, client in
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<20 { group.addTask { #expect(await client.post(port: server.port).status == 201) } }
            }
            #expect(server.maxInFlight == 1 && server.connections == 1 && server.requests.count == 20)
        }
    }

    @Test func `Streams in flight above a number that shrinks end first`() async throws {
        try await withHTTP2(maxStreams: 3, { $0.connectionsPerOrigin = 1 }, answering: { _ in [] }) { server, client in
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<3 { group.addTask { #expect(await client.post(port: server.port).status == 201) } }
                try await expectEventually { server.requests.count == 3 }
                // The server would end the connection for a stream too many.
                server.perform([.settings(maxStreams: 1)])
                group.addTask { #expect(await client.post("/last", port: server.port).status == 201) }
                let requests = server.requests
                server.answer(requests[0])
                server.answer(requests[1])
                #expect(server.requests.count == 3)
                server.answer(requests[2])
                try await expectEventually { server.requests.count == 4 }
                server.answer(server.requests[3])
            }
            #expect(server.maxInFlight == 3 && server.connections == 1)
        }
    }

    @Test func `No streams are allowed for a time`() async throws {
        let script: FakeHTTP2Server.Script = {
            $0.number == 0 ? [.settings(maxStreams: 0), .answer(201)] : [.answer(201)]
        }
        try await withHTTP2({ $0.connectionsPerOrigin = 1 }, answering: script) { server, client in
            #expect(await client.post(port: server.port).status == 201)
            let refused = await client.post(port: server.port, within: .milliseconds(200))
            #expect(refused.failure == .notSent(reason: "timeout"))
            #expect(server.requests.count == 1)
            server.perform([.settings(maxStreams: 2)])
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.connections == 1)
        }
    }

    @Test func `Few requests wait`() async throws {
        let change = { (configuration: inout PushHTTPClientConfiguration) in
            configuration.connectionsPerOrigin = 1
            configuration.waitingPerOrigin = 1
        }
        try await withHTTP2(maxStreams: 1, change, answering: { _ in [] }) { server, client in
            let port = server.port
            try await withThrowingTaskGroup(of: Result<PushHTTPResponse, PushHTTPFailure>.self) { group in
                group.addTask { await client.post(port: port) }
                try await expectEventually { server.requests.count == 1 }
                for _ in 0..<2 { group.addTask { await client.post(port: port) } }
                // One of them waits.
                #expect(try await group.next()?.failure == .notSent(reason: "too many requests wait"))
                server.answer(server.requests[0])
                try await expectEventually { server.requests.count == 2 }
                server.answer(server.requests[1])
                for try await result in group { #expect(result.status == 201) }
            }
        }
    }

    @Test func `The first request is alone until the credentials are taken`() async throws {
        let change = { (configuration: inout PushHTTPClientConfiguration) in
            configuration.connectionsPerOrigin = 1
            configuration.sendsFirstRequestAlone = true
        }
        try await withHTTP2(change, answering: { _ in [] }) { server, client in
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<4 { group.addTask { #expect(await client.post(port: server.port).status != nil) } }
                try await expectEventually { server.requests.count == 1 }
                server.answer(server.requests[0], 403)
                try await expectEventually { server.requests.count == 2 }
                server.answer(server.requests[1], 410)
                try await expectEventually { server.requests.count == 4 }
                #expect(server.maxInFlight == 2)
                for request in server.requests.suffix(2) { server.answer(request) }
            }
        }
    }

    @Test func `More connections are opened when streams run out`() async throws {
        try await withHTTP2(maxStreams: 2, { $0.connectionsPerOrigin = 3 }, answering: { _ in [] }) { server, client in
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<7 { group.addTask { #expect(await client.post(port: server.port).status == 201) } }
                try await expectEventually { server.requests.count == 6 }
                #expect(server.connections == 3)
                server.answer(server.requests[0])
                try await expectEventually { server.requests.count == 7 }
                for request in server.requests.dropFirst() { server.answer(request) }
            }
            #expect(server.connections == 3 && server.maxInFlight == 6)
        }
    }

    // MARK: GOAWAY and RST_STREAM

    @Test func `What a server did not process before GOAWAY is sent again`() async throws {
        try await withHTTP2(
            { $0.connectionsPerOrigin = 1 },
            answering: { request in
                request.connection == 0 ? [] : [.answer(201)]
            }
        ) { server, client in
            try await withThrowingDiscardingTaskGroup { group in
                for number in 0..<3 {
                    group.addTask { #expect(await client.post("/\(number)", port: server.port).status == 201) }
                    try await expectEventually { server.requests.count == number + 1 }
                }
                server.perform([.goAway(last: 1, text: #"{"reason":"IdleTimeout"}"#)])
                try await expectEventually { server.requests.count == 5 }
                // The first stream goes on.
                server.answer(server.requests[0])
            }
            #expect(server.requests.map(\.path).sorted() == ["/0", "/1", "/1", "/2", "/2"])
            #expect(server.requests.suffix(2).allSatisfy { $0.connection == 1 })
            try await expectEventually { server.openConnections == 1 }
        }
    }

    @Test func `What no connection processes is sent twice at most`() async throws {
        try await withHTTP2(answering: { _ in [.goAway(last: 0)] }) { server, client in
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "the server is closing the connection"))
            #expect(server.requests.count == 2 && server.connections == 2)
        }
    }

    @Test func `A refused stream is sent again on another connection`() async throws {
        try await withHTTP2(answering: { request in
            request.number == 1 ? [.reset(.refusedStream)] : [.answer(201)]
        }) { server, client in
            for _ in 0..<2 { #expect(await client.post(port: server.port).status == 201) }
            #expect(server.requests.map(\.connection) == [0, 0, 1])
        }
    }

    @Test(arguments: [HTTP2ErrorCode.internalError, .cancel, .noError, .http11Required])
    func `Any other reset leaves the push in doubt`(code: HTTP2ErrorCode) async throws {
        try await withHTTP2(answering: { $0.number == 0 ? [.reset(code)] : [.answer(201)] }) { server, client in
            let result = await client.post(port: server.port)
            #expect(result.failure == .unanswered(reason: "the server reset the stream"))
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.requests.count == 2 && server.connections == 1)
        }
    }

    /// NIOHTTP2 allows 200 in 30 s by itself.
    @Test func `Many streams that a server resets do not cost the connection`() async throws {
        let script: FakeHTTP2Server.Script = { $0.number < 250 ? [.reset(.internalError)] : [.answer(201)] }
        try await withHTTP2({ $0.connectionsPerOrigin = 1 }, answering: script) { server, client in
            for _ in 0..<250 { #expect(await client.post(port: server.port).isUnanswered) }
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.connections == 1)
        }
    }

    @Test func `A connection that breaks leaves the push in doubt`() async throws {
        try await withHTTP2(answering: { $0.number == 0 ? [.close] : [.answer(201)] }) { server, client in
            #expect(await client.post(port: server.port).isUnanswered)
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.requests.count == 2 && server.connections == 2)
        }
    }

    // MARK: PING

    @Test func `A connection that was idle answers a PING before it is used`() async throws {
        try await withHTTP2({ $0.pingsAfterIdle = .zero }, answering: { _ in [.answer(201)] }) { server, client in
            for _ in 0..<3 { #expect(await client.post(port: server.port).status == 201) }
            #expect(server.connections == 1 && server.pings >= 2)
        }
    }

    @Test func `A connection that does not answer a PING is thrown away`() async throws {
        let change = { (configuration: inout PushHTTPClientConfiguration) in
            configuration.connectionsPerOrigin = 1
            configuration.pingsAfterIdle = .zero
            // The next connection has to answer in time also on a busy machine.
            configuration.pingTimeout = .seconds(10)
        }
        let script: FakeHTTP2Server.Script = { request in
            request.connection == 0 ? [.answer(201), .silence] : [.answer(201)]
        }
        try await withHTTP2(change, answering: script) { server, client in
            #expect(await client.post(port: server.port).status == 201)
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.requests.map(\.connection) == [0, 1])
        }
    }

    @Test func `Silence during a request is asked, and ends the connection`() async throws {
        let change = { (configuration: inout PushHTTPClientConfiguration) in
            configuration.pingsDuringSilence = .milliseconds(50)
            configuration.pingTimeout = .milliseconds(200)
        }
        try await withHTTP2(change, answering: { _ in [.silence] }) { server, client in
            #expect(await client.post(port: server.port).isUnanswered)
            try await expectEventually { server.pings >= 1 }
        }
    }

    @Test func `A slow server that answers PING is waited for`() async throws {
        try await withHTTP2({ $0.pingsDuringSilence = .milliseconds(30) }, answering: { _ in [] }) { server, client in
            async let result = client.post(port: server.port)
            try await expectEventually { server.pings >= 3 }
            server.answer(server.requests[0])
            #expect(await result.status == 201)
            #expect(server.connections == 1)
        }
    }
}
