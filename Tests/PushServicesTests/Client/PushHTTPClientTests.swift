import Foundations
import NIOHTTP2
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// The client with several origins, and with all faults at once.
@Suite(.timeLimit(.minutes(5))) struct PushHTTPClientTests {
    @Test func `The origin that was used least recently gives way`() async throws {
        try await withHTTP2(
            { $0.origins = 1 },
            answering: { request in
                request.path == "/held" ? [] : [.answer(201)]
            }
        ) { server, client in
            #expect(await client.post(port: server.port).status == 201)
            #expect(await client.post(host: "other.test", port: server.port).status == 201)
            try await expectEventually { server.openConnections == 1 }
            #expect(server.connections == 2)
            async let held = client.post("/held", host: "other.test", port: server.port)
            try await expectEventually { server.requests.count == 3 }
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "too many origins are in use"))
            server.answer(server.requests[2])
            #expect(await held.status == 201)
        }
    }

    @Test func `A connection without requests is closed`() async throws {
        try await withHTTP2({ $0.idleTimeout = .milliseconds(50) }, answering: { _ in [.answer(201)] }) {
            server, client in
            #expect(await client.post(port: server.port).status == 201)
            try await expectEventually { server.openConnections == 0 }
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.connections == 2)
        }
    }

    /// What a server does about a request, by its number: all faults that a connection has.
    private static func faulty(_ request: FakeHTTP2Server.Request) -> [FakeHTTP2Server.Step] {
        switch request.number % 50 {
        case 7: [.goAway(last: max(0, request.stream - 2))]
        case 13: [.reset(.refusedStream)]
        case 23: [.settings(maxStreams: 1 + request.number % 7), .answer(201)]
        case 31: [.answer(201), .goAway(last: request.stream)]
        case 41: [.reset(.internalError)]
        case 47: [.answer(410, body: [1], ends: false), .close]
        default: [.answer(201)]
        }
    }

    @Test func `Among all faults every request ends, and what was processed is not sent again`() async throws {
        try await withHTTP2(maxStreams: 20, answering: Self.faulty) { server, client in
            let port = server.port
            var unsent: Set<String> = []
            try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        let result = await client.post("/\(number)", port: port)
                        guard case .notSent = result.failure else { return nil }
                        return "/\(number)"
                    }
                    if number >= 100, let path = try await group.next() ?? nil { unsent.insert(path) }
                }
                for try await case let path? in group { unsent.insert(path) }
            }
            let refusals: Set = [7, 13]
            let processed = server.requests.filter { !refusals.contains($0.number % 50) }.map(\.path)
            #expect(Set(processed).count == processed.count)
            #expect(unsent.isDisjoint(with: processed))
            // Requests that were on their way when the server closed the connection are in doubt.
            #expect(processed.count > 300 && server.connections > 20)
        }
    }

    @Test func `Two clients do not share connections`() async throws {
        try await PushCertificate.with { certificate in
            try await FakeHTTP2Server.with(certificate, { _ in [.answer(201)] }) { server in
                try await withPushClient(certificate) { first in
                    try await withPushClient(certificate) { second in
                        for client in [first, second] { #expect(await client.post(port: server.port).status == 201) }
                    }
                    #expect(await first.post(port: server.port).status == 201)
                }
                #expect(server.connections == 2)
            }
        }
    }

    @Test func `Closing twice, and without a connection`() async throws {
        try await PushCertificate.with { certificate in
            try await withPushClient(certificate) { client in
                await client.close(deadline: .now + .seconds(60))
                await client.close(deadline: .now)
                #expect(await client.post(port: 1).failure == .notSent(reason: "the client is closing"))
            }
        }
    }
}
